"""Actions in a few words, for the card, the history line and the model."""

from __future__ import annotations

from agent import actions as act
from agent.observing import Sight

MAX_TEXT = 40


def describe(action: act.Action, sight: Sight | None) -> str:
    """What the action does, with the name of what it touches where that is known."""
    match action:
        case act.Tap():
            return f"tap {_target(action.target, sight)}"
        case act.DoubleTap():
            return f"double tap {_target(action.target, sight)}"
        case act.LongPress():
            return f"long press {_target(action.target, sight)}"
        case act.Type():
            into = f" into {_target(action.target, sight)}" if action.target is not None else ""
            return f"type {_short(action.text)}{into}{' and submit' if action.submit else ''}"
        case act.Swipe():
            return f"swipe from ({action.start.x},{action.start.y}) to ({action.end.x},{action.end.y})"
        case act.Drag():
            return f"drag from ({action.start.x},{action.start.y}) to ({action.end.x},{action.end.y})"
        case act.Scroll():
            return f"scroll {action.direction}"
        case act.PressKey():
            return f"press {action.key.value}"
        case act.OpenApp():
            return f"open {_short(action.name)}"
        case act.OpenUrl():
            return f"open address {_short(action.url)}"
        case act.Wait():
            return f"wait {action.seconds:g} s"
        case act.WaitFor():
            return f"wait for {action.what} {_short(action.text) if action.text else ''}".strip()
        case act.SendFile():
            return f"send file {_short(action.path)}"
        case act.Note():
            if action.screen:
                return f"note the screen{f': {_short(action.text)}' if action.text else ''}"
            return f"note {_short(action.text)}"
        case act.SumUp():
            return f"sum up the notes: {_short(action.instruction)}"
        case act.AskUser():
            return f"ask {_short(action.question)}"
        case act.TakeOver():
            return f"hand over: {_short(action.reason)}"
        case act.EnterSecret():
            return f"enter a secret: {_short(action.question)}"
        case act.Finish():
            return f"finish: {action.status}"


def _target(target: act.Target, sight: Sight | None) -> str:
    if isinstance(target, act.ElementTarget):
        if sight is not None and target.element < len(sight.targets):
            element = sight.targets[target.element]
            return _short(element.label or element.resource_id.rsplit("/", 1)[-1] or f"element {target.element}")
        return f"element {target.element}"
    return f"({target.x},{target.y})"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= MAX_TEXT else flat[: MAX_TEXT - 1] + "…")
