"""Actions in a few words, for the card, the history line and the model."""

from __future__ import annotations

from agent import actions as act
from agent.observing import Sight
from agent.wording import sentence
from devices.phone import Element

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


def described(action: act.Action, sight: Sight | None, under: Element | None = None) -> str:
    """What a person is asked to allow, in their words; what no gate ever holds is told as the model reads it.

    `under` is what lies there, for an action that only has a point.
    """
    match action:
        case act.Tap():
            return sentence("do.tap", target=_target(action.target, sight, under))
        case act.DoubleTap():
            return sentence("do.double_tap", target=_target(action.target, sight, under))
        case act.LongPress():
            return sentence("do.long_press", target=_target(action.target, sight, under))
        case act.Swipe():
            return sentence("do.swipe", target=_target(action.start, sight, under))
        case act.Drag():
            return sentence("do.drag", target=_target(action.start, sight, under))
        case act.Type() if action.target is None:
            return sentence("do.type_submit" if action.submit else "do.type", text=_short(action.text))
        case act.Type():
            assert action.target is not None
            text, target = _short(action.text), _target(action.target, sight, under)
            return sentence("do.type_into_submit" if action.submit else "do.type_into", text=text, target=target)
        case act.PressKey():
            return sentence("do.press", key=action.key.value)
        case act.OpenUrl():
            return sentence("do.open_url", url=_short(action.url))
        case act.SendFile():
            return sentence("do.send_file", path=_short(action.path))
        case _:
            return describe(action, sight)


def _target(target: act.Target, sight: Sight | None, under: Element | None = None) -> str:
    if isinstance(target, act.ElementTarget):
        if sight is not None and target.element < len(sight.targets):
            element = sight.targets[target.element]
            return _short(element.label or element.resource_id.rsplit("/", 1)[-1] or f"element {target.element}")
        return f"element {target.element}"
    return _short(under.label) if under is not None and under.label else f"({target.x},{target.y})"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= MAX_TEXT else flat[: MAX_TEXT - 1] + "…")
