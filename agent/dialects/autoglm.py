"""The dialect of AutoGLM, with one call per answer: `<think>…</think><answer>do(action="Tap",
element=[x,y])</answer>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent import actions as act
from agent.dialects.base import BadReply, Decision, echo
from agent.dialects.call_syntax import Arguments, BadCall, Call, Value, read_call
from agent.dialects.grid import Grid
from agent.dialects.offered import Forms, OfferedAction
from agent.dialects.replies import (
    WENT_ON,
    decided,
    ended,
    has_words,
    imagined_first,
    is_quoted,
    key_named,
    line_before,
    made,
    turn_end,
    waiting,
    went_on,
    whole_reply,
)
from agent.dialects.scene_text import OneScreenDialect, plain
from agent.models.base import ModelReply
from agent.wording import sentence
from devices.geometry import Size
from devices.inputs import Key

MAX_READS = 16
"""How many calls in an answer are examined, including those in thoughts; no real answer has as many."""

_NAMES = "action|element|start|end|text|app|message|duration|instruction|choices|options"
_CALL = rf"do\s*[(（]\s*(?:(?:{_NAMES})\s*[=＝]|[\"'“‘])|finish\s*[(（]\s*(?:[a-z]+\s*[=＝]|[\"'“‘)）])"
_TOKEN = re.compile(rf"(?P<thought></think>|<answer>)|(?P<end></answer>)|(?<![A-Za-z0-9_])(?P<call>{_CALL})")
_BEGINS_WITH_THOUGHT = re.compile(r"\s*<think>")
_THOUGHT_ENDS = re.compile(r"</think>|<answer>")
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
_TAG = re.compile(r"</?(?:think|answer)>|<\|[a-z_]+\|>|```\w*")


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """A parsed answer.

    `call` is the action. `told` are notices for the model about ignored parts. `alone` is false if there are words next
    to the call.
    """

    call: Call
    thought: str
    summary: str
    told: tuple[str, ...]
    alone: bool


def read_reply(text: str) -> ReplyParts:
    """Parse an answer. Raises BadReply unless there is exactly one readable call."""
    at = 0
    if _BEGINS_WITH_THOUGHT.match(text):
        ends = _THOUGHT_ENDS.search(text)
        if ends is None:
            raise BadReply("Your thought is not closed with </think>, so there is no answer.")
        at = ends.start()
    calls: list[tuple[int, Call]] = []
    broken, reads, part, answered = "", 0, at, False
    end = turn_end(text, at, acted=False)
    while not answered and (found := _TOKEN.search(text, at, end)):
        at = found.end()
        if found["thought"]:
            calls, broken, part = [], "", at
        elif found["end"]:
            answered = True
        else:
            reads += 1
            if reads > MAX_READS:
                raise BadReply("There are too many calls in your answer. Nothing was done.")
            if not is_quoted(line_before(text, found.start("call"), part)):
                try:
                    call = read_call(text, found.start("call"))
                except BadCall as bad:
                    broken = broken or str(bad)
                else:
                    calls.append((found.start("call"), call))
                    at = call.end
        if at > end or len(calls) == 1:
            end = turn_end(text, at, acted=bool(calls))
    if broken:
        raise BadReply(f"The call cannot be read: {broken}.")
    if not calls:
        raise imagined_first() if end < len(text) else BadReply("There is no call in your answer.")
    start, call = _meant(calls)
    before = text[:start]
    own_line = max(part, text.rfind("\n", 0, start) + 1)
    around = (_between(text, own_line, start, calls), _between(text, call.end, at if answered else end, calls))
    alone = not any(has_words(_SUMMARY.sub("", words)) for words in around)
    summary = _SUMMARY.search(before)
    thought = _TAG.sub("", _SUMMARY.sub("", before)).strip()
    told = (WENT_ON,) if answered and _TOKEN.search(text, at) else went_on(text, end)
    told = told if len(calls) == 1 else (_NOT_DONE,)
    return ReplyParts(call, thought, summary[1].strip() if summary else "", told, alone)


def _meant(calls: Sequence[tuple[int, Call]]) -> tuple[int, Call]:
    """Return the call that counts, and its position. If one of several is `finish`, AutoGLM's makers take it and treat
    what precedes it as thought (Open-AutoGLM, `ModelClient._parse_response`). They cannot parse several others
    (`parse_action`). Raises BadReply.
    """
    ends = [found for found in calls if found[1].name == "finish"] if len(calls) > 1 else calls
    if len(ends) != 1:
        raise BadReply("There are several calls in your answer, and only one can be done at a time. Nothing was done.")
    return ends[0]


def _between(text: str, start: int, end: int, calls: Sequence[tuple[int, Call]]) -> str:
    """Return the text between `start` and `end`, without the calls."""
    parts = []
    for begins, call in calls:
        if start <= begins < end:
            parts.append(text[start:begins])
            start = call.end
    return "".join([*parts, text[start:end]])


_LAST = 999
_NOT_DONE = "Beside finish there was another action in your answer. It was not done: finish ends the task."
_EXPECTED = 'Answer with <think>…</think><answer>do(action="Tap", element=[x,y])</answer>, or finish(message="…").'
WORDS = frozenset(
    {
        *("tap", "click", "doubletap", "longpress", "swipe", "type", "typename", "launch", "back", "home", "wait"),
        *("press", "note", "callapi", "interact", "takeover"),
    }
)
"""The dialect's own action names, in the form that `plain` returns."""
_FORMS = Forms(
    text='"…"',
    places={"target": ("[x,y]", "element"), "start": ("[x1,y1]", "start"), "end": ("[x2,y2]", "end")},
)
_PLACEHOLDERS = frozenset({"", "true"})
"""What these models put into Note when they mean the whole screen."""


class AutoGlmDialect(OneScreenDialect):
    """The dialect of AutoGLM."""

    name = "autoglm"
    words = WORDS
    forms = _FORMS

    def _line(self, action: OfferedAction, /) -> str:
        given = [f'action="{action.kind.capitalize()}"', *action.forms]
        return f"do({', '.join(given)}) {action.words}"

    def _grid(self, space: Size, /) -> Grid:
        return Grid(space, thousandths=True, last=_LAST)

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """Return the actions of a reply. `space` is the size of the sent image. Raises BadReply with the reason and the
        expected form.
        """
        reply = whole_reply(reply)
        try:
            parts = read_reply(reply.text)
            thought = parts.thought or reply.reasoning.strip()
            given = Arguments(parts.call)
            finishes = parts.call.name == "finish"
            action = _finish(given, parts.call) if finishes else _done(given, self._grid(space), thought, self._offered)
            given.end()
            return decided((action,), thought, parts.summary, parts.told, alone=parts.alone)
        except BadReply as bad:
            raise BadReply(f"{bad} {_EXPECTED}") from None


def _finish(arguments: Arguments, called: Call) -> act.Action:
    """Return the end, also with an empty message, as the makers' client does."""
    how = arguments.take_named("status", "success")
    message = arguments.optional_text("message", "content")
    if not (how or message or called.named):
        raise BadReply("finish needs a message.")
    return ended("finish", how, message)


def _done(arguments: Arguments, grid: Grid, thought: str, further: Mapping[str, OfferedAction]) -> act.Action:
    name = arguments.text("action")
    arguments.named_action(name)
    match plain(name):
        case word if word in further:
            return further[word].read(name, arguments, grid)
        case "tap" | "click":
            target = grid.target(arguments.take("element", "coordinate"), name)
            return made(act.Tap, name, target=target, sensitive=arguments.optional_text("message"))
        case "doubletap":
            return act.DoubleTap(target=grid.target(arguments.take("element", "coordinate"), name))
        case "longpress":
            return act.LongPress(target=grid.target(arguments.take("element", "coordinate"), name))
        case "swipe":
            path = arguments.take("coordinate", by_place=False)
            if isinstance(path, tuple) and len(path) == 4:  # some clients ask for both ends in one list, and a time
                arguments.take_named("duration")
                return act.Swipe(start=grid.target(path[:2], name), end=grid.target(path[2:], name))
            start, end = grid.target(arguments.take("start"), name), grid.target(arguments.take("end"), name)
            return act.Swipe(start=start, end=end)
        case "type" | "typename":
            place = arguments.take("element", by_place=False)
            into = None if place is None else grid.target(place, name)
            return made(act.Type, name, text=arguments.text("text"), target=into, clear=True)
        case "launch":
            return made(act.OpenApp, name, name=arguments.text("app"))
        case "back":
            return act.PressKey(key=Key.BACK)
        case "home":
            return act.PressKey(key=Key.HOME)
        case "press":
            written = arguments.text("key")
            if (pressed := key_named(written)) is None:
                raise BadReply(f"There is no key {echo(written)}.")
            return pressed
        case "wait":
            return waiting(name, arguments.take("duration"))
        case spoken:
            return _spoken(spoken, name, arguments, thought)


def _spoken(key: str, name: str, arguments: Arguments, thought: str) -> act.Action:
    """Return an action that does not touch the phone. A thought is only for the model, never shown to a person."""
    match key:
        case "note":
            message = arguments.take("message")
            if isinstance(message, str) and message.lower() not in _PLACEHOLDERS:
                return made(act.Note, name, text=message)
            return made(act.Note, name, text=thought, screen=True)
        case "callapi":
            return made(act.SumUp, name, instruction=arguments.text("instruction", "message"))
        case "interact":
            # The makers give it no arguments: it means that several things on the screen match (prompts_zh.py).
            question = arguments.optional_text("message") or sentence("ask.which")
            choices = _choices(arguments.take("choices", "options"))
            return made(act.AskUser, name, question=question, choices=choices, among_shown=not choices)
        case "takeover":
            return made(act.TakeOver, name, reason=arguments.optional_text("message") or sentence("ask.hands"))
        case _:
            raise BadReply(f"There is no action {echo(name)}. The actions are listed in your instructions.")


def _choices(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else () if value is None else (value,)
