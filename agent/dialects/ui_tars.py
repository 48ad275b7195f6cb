"""The dialect of the UI-TARS family: `Thought: … Action: click(point='<point>x y</point>')`.

Actions are also accepted as function calls (native, in markup or as JSON), and `<answer>…</answer>` as the end, because
later models of the family print these (bytedance/UI-TARS-desktop 239b654, multimodal/gui-agent/action-parser).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Self

from agent import actions as act
from agent.dialects.base import BadReply, Decision, echo
from agent.dialects.call_syntax import Arguments, BadCall, Call, Value, read_call
from agent.dialects.grid import Grid
from agent.dialects.offered import Forms, OfferedAction, further_lines, offered
from agent.dialects.printed_calls import NamedCall, Printed, arguments_of, printed_calls
from agent.dialects.replies import (
    decided,
    ended,
    has_words,
    imagined_first,
    key_named,
    made,
    split_thinking,
    turn_end,
    waiting,
    went_on,
    whole_reply,
)
from agent.dialects.scene_text import conversation
from agent.models.base import Message, ModelReply, ToolSpec
from agent.prompts import prompt
from agent.scene import Scene
from agent.wording import sentence
from devices.geometry import Size
from devices.inputs import Key

_BARE = frozenset({"press_home", "press_back", "wait"})
"""Actions that are also accepted without parentheses."""
KNOWN = _BARE | frozenset(
    {
        *("click", "tap", "left_single", "double_tap", "left_double", "double_click", "long_press"),
        *("type", "scroll", "swipe", "drag", "open_app", "hotkey"),
        *("note", "call_user", "take_over", "enter_secret", "finished"),
    }
)
"""The dialect's action names in lower case; any case is accepted."""

MAX_CALLS = 32
"""The maximum number of calls in an answer; no real one has as many."""

_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*[(（]"
_LEAD = r"(?:```\w*\s|[ \t\r\n`*>-]|</?[a-z_]+>|[0-9]{1,2}[.)])*+"
_LABELLED = re.compile(rf"(?im)^[ \t*#>_-]*action[*_ \t]*[:：]{_LEAD}{_NAME}")
_WITHIN_LINE = re.compile(rf"(?im)(?<=\s)action[*_ \t]*[:：]{_LEAD}{_NAME}")
_LINE_CALL = re.compile(rf"(?m)^[ \t`*>-]*(?:[0-9]{{1,2}}[.)][ \t]*)?{_NAME}")
_JOINED = re.compile(
    rf"(?i)(?:```\w*|[\s;,，.。、|&`*>+-]|</?[a-z_]+>|[0-9]{{1,2}}[.)](?=\s)|(?:and|then|action[*_ \t]*[:：]))*+{_NAME}"
)
"""A call that follows another one with only punctuation, labels and a joining word in between."""
_ANY_CALL = re.compile(rf"(?<![A-Za-z0-9_]){_NAME}")
_LABEL = re.compile(
    r"(?im)^[ \t*#>_]*(?P<label>thought|reflection|action[_ ]summary|summary)[*_ \t]*[:：][*]*", re.IGNORECASE
)
_DANGLING = re.compile(r"(?im)(?:^|\s)action[*_ \t]*[:：][*`\s]*\Z")
_WITHOUT_PARENTHESES = re.compile(r"(?im)^[ \t*#>_-]*action[*_ \t]*[:：][ \t`*]*(?P<name>[a-z0-9_]+)[`*. \t\r]*$")

_FUNCTION_CALL = re.compile(
    r"(?m)^[ \t]*(?:```\w*\s*)?(?:<(?:seed:)?tool_calls?>|<function_calls>|<function=|<invoke |\{\s*\"name\"\s*:)"
)
_ANSWER = re.compile(r"\s*<answer>(.*?)</answer>\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """A parsed answer; there is at least one call.

    `told` are notices for the model about ignored parts. `alone` is false if words follow the calls or, for function
    calls, are on the line before them.
    """

    calls: tuple[Call, ...]
    thought: str
    summary: str
    told: tuple[str, ...]
    alone: bool


@dataclass(slots=True)
class _Block:
    """Calls that belong together, and where the words before them end."""

    begins: int
    calls: list[Call] = field(default_factory=list)


def read_reply(text: str, known: Collection[str] = KNOWN) -> ReplyParts:
    """Parse an answer. `known` are the names that count as calls at the start of a line even without the label
    `Action:`. Raises BadReply if no call can be found or read, if there are too many, or if it is not clear which is
    meant.
    """
    thinking, rest = split_thinking(text)
    limit = turn_end(rest, 0, acted=False)
    first = _first_call(rest, limit, known)
    if first is None and (answer := _ANSWER.fullmatch(rest)):
        finished = Call("finished", (), {"content": answer[1].strip()}, len(rest))
        return ReplyParts((finished,), thinking, "", (), alone=True)
    function = _FUNCTION_CALL.search(rest, 0, limit)
    if function and (first is None or function.start() < first[0]):
        return _functions(printed_calls(rest), thinking)
    blocks, passed = (
        _blocks(rest, *first, known) if first is not None else ([_without_parentheses(rest, limit, known)], None)
    )
    block = blocks[-1]
    last = block.calls[-1]
    end = turn_end(rest, last.end, acted=True)
    alone = not has_words(rest[last.end : end])
    if len(blocks) > 1 and not alone:
        raise BadReply("It is not clear which of your actions you mean. Write only that one, with nothing after it.")
    told = list(went_on(rest, end))
    if len(blocks) > 1:
        told.append("Only the last of the actions in your answer was read; those before it were taken as thoughts.")
    elif passed is not None:
        told.append(f"{echo(passed)} was not done: words stand before it. Write each action on a line of its own.")
    labels = _labels(rest[: block.begins])
    described = labels.get("action_summary", "")
    thought = labels.get("thought") or described or thinking or labels.get("", "")
    return ReplyParts(tuple(block.calls), thought, labels.get("summary") or described, tuple(told), alone)


def _functions(printed: Printed, thought: str) -> ReplyParts:
    """Parse an answer with function calls. Raises BadReply if there are none."""
    if not printed.calls:
        raise BadReply("There is no action in your answer.")

    def arguments(call: NamedCall) -> dict[str, Value]:
        return {name: tuple(value) if isinstance(value, list) else value for name, value in call.arguments.items()}

    calls = tuple(Call(call.name, (), arguments(call), 0) for call in printed.calls)
    return ReplyParts(calls, thought or printed.said, "", printed.told, printed.alone)


def _without_parentheses(text: str, limit: int, known: Collection[str]) -> _Block:
    """Parse an action without arguments that is written by name alone. Raises BadReply if there is none."""
    found = _WITHOUT_PARENTHESES.search(text, 0, limit)
    name = found["name"].lower() if found else ""
    if found and name in _BARE:
        return _Block(found.start(), [Call(name, (), {}, found.end())])
    if name in known:
        raise BadReply(f"Write {name}() with its parentheses.")
    if limit < len(text):
        raise imagined_first()
    if _DANGLING.search(text):
        raise BadReply("There is nothing after `Action:`.")
    raise BadReply("There is no action in your answer.")


def _blocks(text: str, begins: int, start: int, known: Collection[str]) -> tuple[list[_Block], str | None]:
    """Return the calls in blocks, and the name of a call among words after the last block."""
    blocks = [_Block(begins)]
    number = 0
    while True:
        number += 1
        if number > MAX_CALLS:
            raise BadReply(f"There are more than {MAX_CALLS} actions in your answer. Nothing was done.")
        call = _call(text, start)
        blocks[-1].calls.append(call)
        limit = turn_end(text, call.end, acted=True)
        joined = _JOINED.match(text, call.end, limit)
        labelled = _LABELLED.search(text, call.end, limit)
        if joined and joined["name"].lower() in known:
            start = joined.start("name")
        elif labelled:
            start = labelled.start("name")
            if has_words(text[call.end : labelled.start()]):
                blocks.append(_Block(labelled.start()))
        else:
            named = (found["name"] for found in _ANY_CALL.finditer(text, call.end, limit))
            return blocks, next((name for name in named if name.lower() in known), None)


def _call(text: str, start: int) -> Call:
    try:
        return read_call(text, start)
    except BadCall as bad:
        raise BadReply(f"The action cannot be read: {bad}.") from None


def _first_call(text: str, limit: int, known: Collection[str]) -> tuple[int, int] | None:
    """Return where the words before the first call end, and where the call begins, before `limit`."""
    labelled = _LABELLED.search(text, 0, limit) or _WITHIN_LINE.search(text, 0, limit)
    lines = (found for found in _LINE_CALL.finditer(text, 0, limit) if found["name"].lower() in known)
    line = next((found.start("name") for found in lines), None)
    if labelled is None:
        return None if line is None else (line, line)
    if line is not None and line < labelled.start():
        try:
            if read_call(text, line).end > labelled.start():
                return line, line
        except BadCall:
            pass
    return labelled.start(), labelled.start("name")


def _labels(text: str) -> dict[str, str]:
    """Return the text under each label; text before the first label is under ""."""
    found = list(_LABEL.finditer(text))
    parts = {"": text[: found[0].start() if found else len(text)].strip()}
    for index, label in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        parts.setdefault(label["label"].lower().replace(" ", "_"), text[label.end() : end].strip())
    return parts


_EXPECTED = (
    "Answer with `Thought: …`, `Summary: …` and then one line such as `Action: click(point='<point>200 300</point>')`."
)
_AFTER_END = "The actions after finished were not done: finished ends the task."

_START = ("start_box", "point", "start_point", "box", "start")
_END = ("end_box", "end_point", "end")
_DIRECTIONS = ("up", "down", "left", "right")
_POINT = "'<point>x y</point>'"
_FORMS = Forms(
    text="'…'",
    places={
        "target": (_POINT, "point", "start_box", "box"),
        "start": (_POINT, "start_point", "start_box"),
        "end": (_POINT, "end_point", "end_box"),
    },
)


class UiTarsDialect:
    """One of the two UI-TARS dialects. With `pixels`, for version 1.5, coordinates are in pixels, otherwise in
    thousandths.
    """

    image_window = 5
    """The models are trained on conversations of five screenshots."""
    lightens_past = True
    """Five pictures per step are much to send, and in earlier ones only what happened matters.

    Measured over 16 steps with a window of 5: 196 kB per step instead of 327. An endpoint with a prompt cache must read
    one more picture per step: of 178 thousand tokens, 78 instead of 105 come from its cache.
    """

    def __init__(self, *, pixels: bool, models: tuple[type[act.Action], ...] = act.DIALECT_ACTIONS) -> None:
        self._pixels = pixels
        self.name = "ui-tars-1.5" if pixels else "ui-tars"
        self._offered = offered(models, _FORMS, KNOWN)
        self._known = KNOWN | self._offered.keys()

    def offering(self, models: tuple[type[act.Action], ...], /) -> Self:
        """Return the dialect extended with the given actions. Implements `Dialect.offering`."""
        return type(self)(pixels=self._pixels, models=models)

    def render(self, scene: Scene) -> tuple[tuple[Message, ...], tuple[ToolSpec, ...]]:
        """Return the messages for this scene, and no tools. Each past step of the same model is shown as a screenshot
        (or a note that it was removed) and its reply.
        """
        space = scene.screen.space
        return conversation(self._instructions(space), scene, self._grid(space).written, whole=True), ()

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """Return the actions of a reply. `space` is the size of the sent image. Raises BadReply with the reason and the
        expected form.
        """
        reply = whole_reply(reply)
        try:
            parts = _native(reply) if reply.tool_calls else read_reply(reply.text, self._known)
            actions = [_action(call, self._grid(space), self._offered) for call in parts.calls]
            # The makers' client runs calls in order and nothing after `finished` (UI-TARS-desktop, GUIAgent.ts).
            until = next((n for n, action in enumerate(actions, 1) if isinstance(action, act.Finish)), len(actions))
            told = parts.told if until == len(actions) else (*parts.told, _AFTER_END)
            thought = parts.thought or reply.reasoning
            return decided(actions[:until], thought, parts.summary, told, alone=parts.alone)
        except BadReply as bad:
            raise BadReply(f"{bad} {_EXPECTED}") from None

    def _grid(self, space: Size) -> Grid:
        return Grid(space, thousandths=not self._pixels)

    def _instructions(self, space: Size) -> str:
        places = (
            f"Places are pixels of this screenshot: x from 0 to {space.width - 1}, y from 0 to {space.height - 1}."
            if self._pixels
            else "Places are written on a grid from 0 to 1000: x from the left edge to the right, y from top to bottom."
        )
        rules = prompt("dialects/rules")
        further = further_lines(
            self._offered, lambda action: f"{action.kind}({', '.join(action.forms)}) {action.words}"
        )
        return prompt(
            "dialects/ui_tars", width=space.width, height=space.height, places=places, further=further, rules=rules
        )


def _native(reply: ModelReply) -> ReplyParts:
    """Parse an answer whose function calls were parsed by the endpoint."""
    thinking, said = split_thinking(reply.text)
    calls = tuple(NamedCall(call.name, arguments_of(call.arguments, call.name)) for call in reply.tool_calls)
    return _functions(Printed(calls, said.strip()), thinking)


def _action(call: Call, grid: Grid, further: Mapping[str, OfferedAction]) -> act.Action:
    given, name = Arguments(call), call.name.lower()
    if name in further:
        return further[name].read(name, given, grid)
    action = _typed(name, given, grid)
    given.end()
    return action


def _typed(name: str, arguments: Arguments, grid: Grid) -> act.Action:
    match name:
        case "click" | "tap" | "left_single":
            return act.Tap(target=_point(arguments, grid, name))
        case "double_tap" | "left_double" | "double_click":
            return act.DoubleTap(target=_point(arguments, grid, name))
        case "long_press":
            return act.LongPress(target=_point(arguments, grid, name))
        case "type":
            return _type(arguments, grid)
        case "scroll" | "swipe":
            return _scroll(name, arguments, grid)
        case "drag":
            start, end = _way(name, arguments, grid)
            return act.Drag(start=start, end=end)
        case "open_app":
            return made(act.OpenApp, name, name=arguments.text("app_name", "name", "content"))
        case "press_home":
            return act.PressKey(key=Key.HOME)
        case "press_back":
            return act.PressKey(key=Key.BACK)
        case "hotkey":
            return _key(arguments.text("key", "hotkey"))
        case "wait":
            return waiting(name, arguments.take("time", "seconds", "duration"))
        case _:
            return _spoken(name, arguments, grid)


def _spoken(name: str, arguments: Arguments, grid: Grid) -> act.Action:
    """Return an action that does not touch the phone, or only through a person."""
    match name:
        case "note":
            return made(act.Note, name, text=arguments.text("content", "text"))
        case "call_user":
            question = arguments.optional_text("content", "question")
            return made(act.AskUser, name, question=question or sentence("ask.help"))
        case "take_over":
            return made(act.TakeOver, name, reason=arguments.text("content", "reason"))
        case "enter_secret":
            question = arguments.text("content", "question")
            return made(act.EnterSecret, name, question=question, target=grid.place(arguments.take(*_START), name))
        case "finished":
            return ended(name, arguments.take_named("status", "success"), arguments.optional_text("content"))
        case _:
            raise BadReply(f"There is no action {echo(name)}. The actions are listed in your instructions.")


def _type(arguments: Arguments, grid: Grid) -> act.Action:
    """Return a typing action; a newline alone is the Enter key."""
    content = arguments.text("content", "text")
    target = grid.place(arguments.take(*_START), "type")
    typed = made(act.Type, "type", text=content, target=target)
    return act.PressKey(key=Key.ENTER) if not typed.text and target is None else typed


def _scroll(name: str, arguments: Arguments, grid: Grid) -> act.Action:
    direction = arguments.take("direction", by_place=False)
    start, end = arguments.take(*_START, by_place=False), arguments.take(*_END, by_place=False)
    for value in arguments.rest_by_place():
        if direction is None and isinstance(value, str) and value.strip().lower() in _DIRECTIONS:
            direction = value
        elif start is None:
            start = value
        elif end is None:
            end = value
        else:
            raise BadReply(f"{name} has more values than it takes.")
    place = grid.place(start, name)
    if direction is not None:
        return made(act.Scroll, name, direction=str(direction).strip().lower(), target=place)
    if place is None or end is None:
        raise BadReply(f"{name} needs a direction (up, down, left or right), or a start_box and an end_box.")
    return made(act.Swipe, name, start=place, end=grid.target(end, name))


def _point(arguments: Arguments, grid: Grid, name: str) -> act.PointTarget:
    value = arguments.take(*_START, by_place=False)
    if value is None:
        value = arguments.take(*_END, by_place=False)
    if value is None:
        rest = arguments.rest_by_place()
        value = rest[0] if len(rest) == 1 else rest
    return grid.target(value, name)


def _way(name: str, arguments: Arguments, grid: Grid) -> tuple[act.PointTarget, act.PointTarget]:
    """Return where a finger starts and ends; four bare numbers are two points here, not a box."""
    start, end = arguments.take(*_START, by_place=False), arguments.take(*_END, by_place=False)
    rest = arguments.rest_by_place()
    if start is None and end is None and len(rest) == len(("x1", "y1", "x2", "y2")):
        start, end = rest[:2], rest[2:]
    elif start is None and end is None and len(rest) == len(("start", "end")):
        start, end = rest
    return grid.target(start, f"the start of {name}"), grid.target(end, f"the end of {name}")


def _key(name: str) -> act.PressKey:
    key = key_named(name)
    if key is None:
        raise BadReply(
            f"A phone has no key {echo(name)!r}. Use press_back, press_home, or end a text with \\n to submit it."
        )
    return key
