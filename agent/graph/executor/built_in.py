"""The actions and tools that every run has. To add one, append its spec here or pass it to `ActionRegistry.plus`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent import actions as act
from agent.graph.executor.action_spec import ActionRegistry, InputAction, PersonAction, PhoneTool
from agent.graph.executor.field_text import COPY_TEXT, CUT_TEXT, EDIT_TEXT, PASTE_TEXT, READ_TEXT
from agent.graph.executor.long_lists import READ_LIST, SCROLL_TO
from agent.graph.executor.outgoing import address_gate, pressed_gate, typed_gate
from agent.graph.executor.phone_files import FILES
from agent.graph.executor.phone_tools import (
    READ_WORDS,
    SHOW_ALL,
    exact_path,
    file_gate,
    list_apps,
    note,
    send_file,
    sum_up,
    wait,
    wait_for,
)
from agent.graph.executor.set_value import SET_VALUE
from agent.graph.executor.targets import ResolvedTarget, finger_end, scroll_of
from agent.listing import id_name, words_of
from agent.observing import ScreenView
from agent.tools.spec import Trait, ungated
from agent.wording import sentence, shortened, words
from devices import inputs
from devices.geometry import Point
from devices.phone import Element
from devices.wording import Words

MAX_TEXT = 40
DRAG_MS = 1000
_SHOWN_KEYS = str.maketrans({"\n": "⏎", "\t": "⇥"})
_TOUCHES: frozenset[Trait] = frozenset({"touches"})
_MOVES: frozenset[Trait] = frozenset({"moves the screen"})
_WAITS: frozenset[Trait] = frozenset({"waits"})


def _target(target: act.Target, view: ScreenView | None, under: Element | None = None) -> str:
    """Describe what is touched in a few words; `under` is the element there, for an action with only a point."""
    if isinstance(target, act.ElementTarget):
        if view is not None and target.element < len(view.targets):
            element = view.targets[target.element]
            inside = view.screen.elements[target.element].inside if view.screen.elements else ""
            return _short(words_of(element) or inside or id_name(element) or f"element {target.element}")
        return words("did.element", number=target.element)
    return _short(under.label) if under is not None and under.label else words("did.place", x=target.x, y=target.y)


def _short(text: str) -> str:
    return repr(shortened(" ".join(text.split()), MAX_TEXT))


Touch = act.Tap | act.DoubleTap | act.LongPress
Move = act.Swipe | act.Drag


def _touch(
    model: type[Any],
    describe: Callable[[str], Words],
    asked: Callable[[str], str],
    made: Callable[[Point], inputs.Input],
) -> InputAction[Any]:
    """Return the spec of a touch."""

    def described(action: Touch, view: ScreenView | None) -> Words:
        return describe(_target(action.target, view))

    def what(action: Touch, view: ScreenView | None, under: Element | None) -> str:
        return asked(_target(action.target, view, under))

    def to_input(_action: Touch, target: ResolvedTarget, _sight: ScreenView) -> inputs.Input | None:
        return None if target.point is None else made(target.point)

    return InputAction(
        model=model, describe=described, asked=what, gate=pressed_gate, means=(), traits=_TOUCHES, to_input=to_input
    )


def _move(
    model: type[Any],
    describe: Callable[[str, str], Words],
    asked: Callable[[str], str],
    made: Callable[[Any, Point, Point], inputs.Input],
) -> InputAction[Any]:
    """Return the spec of a finger movement."""

    def described(action: Move, _sight: ScreenView | None) -> Words:
        return describe(_target(action.start, None), _target(action.end, None))

    def what(action: Move, view: ScreenView | None, under: Element | None) -> str:
        return asked(_target(action.start, view, under))

    def to_input(action: Move, target: ResolvedTarget, view: ScreenView) -> inputs.Input | None:
        return None if target.point is None else made(action, target.point, finger_end(action, target.point, view))

    return InputAction(
        model=model, describe=described, asked=what, gate=ungated, means=(), traits=_TOUCHES | _MOVES, to_input=to_input
    )


def _text(action: act.Type) -> str:
    """Return the typed text, with a symbol for each key in it."""
    return _short(action.text.translate(_SHOWN_KEYS))


def _typed(action: act.Type, view: ScreenView | None) -> Words:
    text = _text(action)
    if action.target is None:
        return words("did.type_submit" if action.submit else "did.type", text=text)
    target = _target(action.target, view)
    return words("did.type_into_submit" if action.submit else "did.type_into", text=text, target=target)


def _to_type(action: act.Type, view: ScreenView | None, under: Element | None) -> str:
    text = _text(action)
    if action.target is None:
        return sentence("do.type_submit" if action.submit else "do.type", text=text)
    target = _target(action.target, view, under)
    return sentence("do.type_into_submit" if action.submit else "do.type_into", text=text, target=target)


def _text_input(action: act.Type, target: ResolvedTarget, _sight: ScreenView) -> inputs.Input:
    return inputs.TypeText(action.text, at=target.point, clear=action.clear, submit=action.submit)


def _waited_for(action: act.WaitFor, _sight: ScreenView | None) -> Words:
    if action.what == "change":
        return words("did.wait_change")
    return words(f"did.wait_{action.what}", text=_short(action.text))


def _noted(action: act.Note, _sight: ScreenView | None) -> Words:
    # The text noted with a screen may be the model's thought.
    return words("did.note_screen") if action.screen else words("did.note", text=_short(action.text))


BUILT_IN = ActionRegistry(
    [
        _touch(
            act.Tap,
            lambda target: words("did.tap", target=target),
            lambda target: sentence("do.tap", target=target),
            inputs.Tap,
        ),
        _touch(
            act.DoubleTap,
            lambda target: words("did.double_tap", target=target),
            lambda target: sentence("do.double_tap", target=target),
            lambda at: inputs.Tap(at, times=2),
        ),
        _touch(
            act.LongPress,
            lambda target: words("did.long_press", target=target),
            lambda target: sentence("do.long_press", target=target),
            inputs.LongPress,
        ),
        InputAction(
            model=act.Type,
            describe=_typed,
            asked=_to_type,
            details=lambda action: [sentence("ask.text", text=action.text)],
            gate=typed_gate,
            means=("text",),
            to_input=_text_input,
        ),
        _move(
            act.Swipe,
            lambda start, end: words("did.swipe", start=start, end=end),
            lambda target: sentence("do.swipe", target=target),
            lambda action, start, end: inputs.Swipe(start, end, action.duration_ms),
        ),
        InputAction(
            model=act.Scroll,
            describe=lambda action, _: words(f"did.scroll_{action.direction}"),
            gate=ungated,
            means=(),
            traits=_MOVES,
            to_input=lambda action, where, sight: scroll_of(action.direction, where, sight),
        ),
        _move(
            act.Drag,
            lambda start, end: words("did.drag", start=start, end=end),
            lambda target: sentence("do.drag", target=target),
            lambda _, start, end: inputs.Swipe(start, end, DRAG_MS, hold=True),
        ),
        InputAction(
            model=act.PressKey,
            describe=lambda action, _: words("did.press", key=action.key.value),
            asked=lambda action, _sight, _under: sentence("do.press", key=action.key.value),
            details=lambda _: (),
            gate=pressed_gate,
            to_input=lambda action, _where, _sight: inputs.PressKey(action.key),
        ),
        InputAction(
            model=act.OpenApp,
            describe=lambda action, _: words("did.open_app", name=_short(action.name)),
            gate=ungated,
            to_input=lambda action, _where, _sight: inputs.OpenApp(action.name),
        ),
        InputAction(
            model=act.OpenUrl,
            describe=lambda action, _: words("did.open_url", url=_short(action.url)),
            asked=lambda action, _sight, _under: sentence("do.open_url", url=_short(action.url)),
            details=lambda action: [sentence("ask.address", url=action.url)],
            gate=address_gate,
            to_input=lambda action, _where, _sight: inputs.OpenUrl(action.url),
        ),
        PhoneTool(
            model=act.Wait,
            describe=lambda action, _: words("did.wait", seconds=f"{action.seconds:g}"),
            gate=ungated,
            traits=_WAITS,
            journalled=False,
            run=wait,
        ),
        PhoneTool(model=act.WaitFor, describe=_waited_for, gate=ungated, traits=_WAITS, journalled=False, run=wait_for),
        PhoneTool(
            model=act.SendFile,
            describe=lambda action, _: words("did.send_file", path=_short(action.path)),
            asked=lambda action, _sight, _under: sentence("do.send_file", path=_short(action.path)),
            details=lambda action: [sentence("ask.file", path=action.path)],
            gate=file_gate,
            resolve=exact_path,
            cut_off="rejected",
            run=send_file,
        ),
        PhoneTool(
            model=act.ListApps,
            describe=lambda action, _: (
                words("did.list_apps_named", name=_short(action.name)) if action.name else words("did.list_apps")
            ),
            gate=ungated,
            journalled=False,
            run=list_apps,
        ),
        PhoneTool(model=act.Note, describe=_noted, gate=ungated, journalled=False, run=note),
        PhoneTool(
            model=act.SumUp,
            describe=lambda action, _: words("did.sum_up", text=_short(action.instruction)),
            gate=ungated,
            journalled=False,
            run=sum_up,
        ),
        FILES,
        READ_TEXT,
        EDIT_TEXT,
        COPY_TEXT,
        CUT_TEXT,
        PASTE_TEXT,
        SCROLL_TO,
        READ_LIST,
        SET_VALUE,
        READ_WORDS,
        SHOW_ALL,
        PersonAction(model=act.AskUser, describe=lambda action, _: words("did.ask", question=_short(action.question))),
        PersonAction(model=act.TakeOver, describe=lambda action, _: words("did.hand_over", why=_short(action.reason))),
        PersonAction(
            model=act.EnterSecret, describe=lambda action, _: words("did.secret", question=_short(action.question))
        ),
        PersonAction(model=act.Finish, describe=lambda action, _: words(f"did.{action.status}")),
    ]
)
