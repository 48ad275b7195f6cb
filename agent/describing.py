"""Actions in a few words, for the card, the history line and the model."""

from __future__ import annotations

from agent import actions as act
from agent.observing import ScreenView
from agent.wording import sentence, words
from devices.phone import Element
from devices.wording import Words, said

MAX_TEXT = 40


def describe(action: act.Action, sight: ScreenView | None) -> Words:
    """What the action does, with the name of what it touches where that is known. Models read it in English."""
    match action:
        case act.Tap():
            return words("did.tap", target=_target(action.target, sight))
        case act.DoubleTap():
            return words("did.double_tap", target=_target(action.target, sight))
        case act.LongPress():
            return words("did.long_press", target=_target(action.target, sight))
        case act.Type() if action.target is None:
            return words("did.type_submit" if action.submit else "did.type", text=_short(action.text))
        case act.Type():
            assert action.target is not None
            text, target = _short(action.text), _target(action.target, sight)
            return words("did.type_into_submit" if action.submit else "did.type_into", text=text, target=target)
        case act.Swipe():
            return words("did.swipe", start=_target(action.start, None), end=_target(action.end, None))
        case act.Drag():
            return words("did.drag", start=_target(action.start, None), end=_target(action.end, None))
        case act.Scroll():
            return words(f"did.scroll_{action.direction}")
        case act.PressKey():
            return words("did.press", key=action.key.value)
        case act.OpenApp():
            return words("did.open_app", name=_short(action.name))
        case act.OpenUrl():
            return words("did.open_url", url=_short(action.url))
        case act.Wait():
            return words("did.wait", seconds=f"{action.seconds:g}")
        case act.WaitFor(what="change"):
            return words("did.wait_change")
        case act.WaitFor():
            return words(f"did.wait_{action.what}", text=_short(action.text))
        case act.SendFile():
            return words("did.send_file", path=_short(action.path))
        case act.Note(screen=True, text=""):
            return words("did.note_screen")
        case act.Note():
            return words("did.note_screen_text" if action.screen else "did.note", text=_short(action.text))
        case act.SumUp():
            return words("did.sum_up", text=_short(action.instruction))
        case act.AskUser():
            return words("did.ask", question=_short(action.question))
        case act.TakeOver():
            return words("did.hand_over", why=_short(action.reason))
        case act.EnterSecret():
            return words("did.secret", question=_short(action.question))
        case act.Finish():
            return words(f"did.{action.status}")


def described(action: act.Action, sight: ScreenView | None, under: Element | None = None) -> str:
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
            return said(describe(action, sight))


def _target(target: act.Target, sight: ScreenView | None, under: Element | None = None) -> str:
    if isinstance(target, act.ElementTarget):
        if sight is not None and target.element < len(sight.targets):
            element = sight.targets[target.element]
            return _short(element.label or element.resource_id.rsplit("/", 1)[-1] or f"element {target.element}")
        return words("did.element", number=target.element)
    return _short(under.label) if under is not None and under.label else f"({target.x},{target.y})"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= MAX_TEXT else flat[: MAX_TEXT - 1] + "…")
