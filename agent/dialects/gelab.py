"""The dialect of GELab-Zero and Step-GUI, with one action per answer: `<THINK>…</THINK>`, then fields separated by
tabs, such as `explain:… action:CLICK point:x,y summary:…`, with coordinates from 0 to 1000.

Sources: stepfun-ai/gelab-zero 19465cf, copilot_tools/parser_0920_summary.py (`str2action`) and action_tools.py (further
actions), copilot_front_end/pu_frontend_executor.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent import actions as act
from agent.dialects.base import BadReply, Decision, echo
from agent.dialects.call_syntax import Arguments, Call, Value
from agent.dialects.grid import Grid
from agent.dialects.offered import Forms, OfferedAction
from agent.dialects.replies import (
    REVEALED_BY_FINGER,
    decided,
    ended,
    imagined_first,
    key_named,
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

WORDS: Final = frozenset(
    {
        *("click", "longpress", "doubleclick", "type", "slide", "awake", "wait", "hotkey", "back", "home"),
        *("info", "calluser", "note", "secret", "complete", "abort"),
    }
)
"""The dialect's own action names, in the form that `plain` returns, and those that this project's instructions add."""
_ABOUT: Final = frozenset({"explain", "summary", "key_process", "verify", "note", "cot"})
"""Fields that describe a step; none of them is an argument of an action."""
_POINTS: Final = ("point", "coordinate", "point1")
_FORMS: Final = Forms(
    text="…",
    places={"target": ("x,y", *_POINTS), "start": ("x1,y1", "point1", "point"), "end": ("x2,y2", "point2")},
)
_EXPECTED: Final = (
    "Answer with <THINK>…</THINK> and then one line of fields parted by tabs, such as "
    "`explain:…\taction:CLICK\tpoint:x,y\tsummary:…`."
)

# The tag that opens a thought may be in the chat template, and remains of such a template may precede the thought
# (stepfun-ai/gelab-zero issue 13).
_THOUGHT: Final = re.compile(
    r"\A(?:[^\t<]*<\s*/\s*th?ink\s*>)?\s*(?:<\s*th?ink\s*>(?P<thought>.*?)<\s*/\s*th?ink\s*>)?\s*",
    re.IGNORECASE | re.DOTALL,
)
_OPENED: Final = re.compile(r"<\s*th?ink\s*>", re.IGNORECASE)
_KEYS: Final = r"explain|action|point[12]?|coordinate|value|return|summary|key_process|verify|note|key|status|direction"
_OWN: Final = re.compile(_KEYS)
_FIRST: Final = re.compile(rf"(?m)^[ \t]*[\"']?(?:{_KEYS})[\"']?\s*[:：=(]")
_ACTION: Final = re.compile(r"(?m)(?:^|\t)[ ]*action\s*[:：][^\t\n]*")
_TABS: Final = re.compile(r"\t+")
_LINES: Final = re.compile(rf"(?:\n+|\\t)\s*(?=[\"']?(?:{_KEYS})[\"']?\s*[:：=(]|\[)")
_PLACES: Final = frozenset({*_POINTS, "point2"})
_PLACE: Final = re.compile(r"\s*[\[(]\s*[0-9.]{1,8}\s*[,\s]\s*[0-9.]{1,8}\s*[\])]\s*")
_FIELD: Final = re.compile(r"\s*[\"']?(?P<key>[A-Za-z_]\w{0,40})[\"']?\s*(?P<sign>[:：=(])(?P<value>.*)", re.DOTALL)
_TAIL: Final = re.compile(r"(?:<\|(?:im_end|endoftext|eot_id)\|>|</s>|\s)+\Z")
_ESCAPE: Final = re.compile(r"\\([nt\\])")
_ESCAPES: Final = {"n": "\n", "t": "\t", "\\": "\\"}


class GelabDialect(OneScreenDialect):
    """The dialect of GELab-Zero and Step-GUI."""

    name = "gelab"
    words = WORDS
    forms = _FORMS

    def _line(self, action: OfferedAction, /) -> str:
        given = "".join(f"\t{argument.name}:{argument.form}" for argument in action.arguments)
        return f"action:{action.kind.upper()}{given} {action.words}"

    def _grid(self, space: Size, /) -> Grid:
        return Grid(space, thousandths=True)

    def parse(self, reply: ModelReply, space: Size) -> Decision:
        """Return the actions of a reply. `space` is the size of the sent image. Raises BadReply with the reason and the
        expected form.
        """
        reply = whole_reply(reply)
        try:
            thought, fields, told = _read(reply.text)
            action = self._action(fields, self._grid(space))
            about = fields.get("explain", "")
            return decided((action,), thought or reply.reasoning.strip() or about, about, told)
        except BadReply as bad:
            raise BadReply(f"{bad} {_EXPECTED}") from None

    def _action(self, fields: dict[str, str], grid: Grid) -> act.Action:
        name = fields["action"]
        word = plain(name)
        further = self._offered.get(word)
        own = {each for argument in further.arguments for each in argument.names} if further else set[str]()
        arguments: dict[str, Value] = {
            key: value for key, value in fields.items() if key != "action" and (key in own or key not in _ABOUT)
        }
        given = Arguments(Call(name, (), arguments, 0))
        if further:
            return further.read(name, given, grid)
        action = _typed(word, name, given, grid)
        given.end()
        return action


def _read(text: str) -> tuple[str, dict[str, str], tuple[str, ...]]:
    """Return the thought, the fields of the only action, and what the model must be told. Raises BadReply."""
    found = _THOUGHT.match(text)
    rest = text[found.end() :] if found else text
    thought = (found and found["thought"]) or ""
    if _OPENED.match(rest):
        raise BadReply("Your thought is not closed with </THINK>, so there is no action.")
    begins = _FIRST.search(rest)
    if begins is None:
        raise BadReply("There is no action in your answer.")
    thought, rest = thought or rest[: begins.start()], _TAIL.sub("", rest)
    # A value may contain something like a turn mark. Only a further action shows that it was one.
    end, action = len(rest), _ACTION.search(rest, begins.start())
    if action is None or turn_end(rest, 0, acted=False) < action.start():
        end = turn_end(rest, 0, acted=False)
    elif _ACTION.search(rest, acted := turn_end(rest, action.end(), acted=True)):
        end = acted
    fields: dict[str, str] = {}
    for key, value in _fields(rest[begins.start() : end]):
        if key == "action" and key in fields:
            raise BadReply("There are several actions in your answer, and only one can be done. Nothing was done.")
        fields.setdefault(key, value)  # an argument with the same name as a field about the step comes first
    if not fields.get("action"):
        raise imagined_first() if end < len(rest) else BadReply("There is no action in your answer.")
    return thought.strip(), fields, went_on(rest, end)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and values in order; a bare place is a `point`. Raises BadReply for any other text without a name,
    which may be the rest of a value with a tab in it.
    """
    for part in (_TABS if "\t" in text else _LINES).split(text.strip(" \n\t")):
        if not part.strip(" \n"):
            continue
        field = _FIELD.fullmatch(part)
        if _PLACE.fullmatch(part):
            yield "point", part.strip()
        elif field is None or (field["sign"] not in ":：" and field["key"] not in _PLACES):
            raise BadReply(f"{echo(part)} is no field. Write a tab inside a value as \\t.")
        else:
            # Arguments may begin and end with spaces; fields about the step do not.
            told = field["value"] if not _OWN.fullmatch(field["key"]) else field["value"].strip()
            value = _ESCAPE.sub(lambda found: _ESCAPES[found[1]], told)
            yield field["key"], value.rstrip("}") if field["key"] in _PLACES else value


def _typed(word: str, name: str, arguments: Arguments, grid: Grid) -> act.Action:
    match word:
        case "click":
            return act.Tap(target=grid.target(arguments.take(*_POINTS), name))
        case "doubleclick":
            return act.DoubleTap(target=grid.target(arguments.take(*_POINTS), name))
        case "longpress":
            arguments.take_named("value", "duration")
            return act.LongPress(target=grid.target(arguments.take(*_POINTS), name))
        case "type":
            arguments.take_named("keyboard_exists", "is_keyboard")
            return made(act.Type, name, text=arguments.text("value"), target=grid.place(arguments.take(*_POINTS), name))
        case "slide":
            return _slide(name, arguments, grid)
        case "awake":
            return made(act.OpenApp, name, name=arguments.text("value"))
        case "wait":
            return waiting(name, arguments.take("value"))
        case "back" | "home":
            return act.PressKey(key=Key(word))
        case "hotkey":
            if (pressed := key_named(written := arguments.text("key", "value"))) is None:
                raise BadReply(f"There is no key {echo(written)}.")
            return pressed
        case _:
            return _spoken(word, name, arguments, grid)


def _spoken(word: str, name: str, arguments: Arguments, grid: Grid) -> act.Action:
    """Return an action that does not touch the phone, or only through a person."""
    match word:
        case "note":
            return made(act.Note, name, text=arguments.text("value"))
        case "info":
            return made(act.AskUser, name, question=arguments.text("value"))
        case "calluser":
            return made(act.TakeOver, name, reason=arguments.optional_text("value") or sentence("ask.hands"))
        case "secret":
            question = arguments.text("value")
            return made(act.EnterSecret, name, question=question, target=grid.place(arguments.take(*_POINTS), name))
        case "complete":
            how = {key: str(value).lower() for key, value in arguments.take_named("status").items()}
            return ended(name, how, arguments.optional_text("return", "value"))
        case "abort":
            return made(act.Finish, name, status="failure", summary=arguments.optional_text("value", "return"))
        case _:
            raise BadReply(f"There is no action {echo(name)}. The actions are listed in your instructions.")


def _slide(name: str, arguments: Arguments, grid: Grid) -> act.Action:
    """Return a finger movement; a direction is also that of the finger."""
    if (direction := arguments.optional_text("direction")) != "":
        reveals = REVEALED_BY_FINGER.get(direction.strip().lower())
        return made(act.Scroll, name, direction=reveals, target=grid.place(arguments.take(*_POINTS), name))
    start = grid.target(arguments.take("point1", "point"), f"point1 of {name}")
    return act.Swipe(start=start, end=grid.target(arguments.take("point2"), f"point2 of {name}"))
