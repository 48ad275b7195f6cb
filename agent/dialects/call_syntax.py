"""Parses calls such as `name(argument='value', …)` in a model's text, without executing anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent.dialects.base import BadReply, echo
from agent.models.json_answers import whole_signs

Value = str | int | float | bool | None | tuple["Value", ...]

_MAX_DEPTH = 3
"""The maximum nesting of lists; calls of these models use at most two levels."""

_OPEN, _CLOSE, _COMMA, _EQUALS = "(（", ")）", ",，", "=＝"
_LIST_ENDS = {"[": "]", "［": "］", "(": ")）", "（": ")）"}
_QUOTES = {"'": "'", '"': '"', "“": "”", "‘": "’"}
_MISTAKEN = {"'": "’‘", '"': "”“", "”": '"“', "’": "'‘"}
"""Quotation marks that models put at the end of a text instead of the right one."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_CONSTANTS: dict[str, Value] = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?(?![\w.])")
_TAGGED = re.compile(r"<\|?[a-z_0-9]+\|?>[^<>'\"]*<[/|][a-z_0-9]+\|?>")
_KEY = re.compile(r"\s*['\"]?([A-Za-z_]\w{0,30})['\"]?\s*[:：=＝]")
_NEXT_TEXT = re.compile(r"\s*[,，]\s*[A-Za-z_]\w*\s*[=＝]\s*(['\"])")
_BLANK = re.compile(r"\s*")
_AFTER_CALL = re.compile(r"\Z|[\s.。;；,，<`'\"|)）]")


class BadCall(ValueError):
    """The text is not a call; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Call:
    """A parsed call. `positional` and `named` are its arguments; `end` is the offset just after its closing
    parenthesis.
    """

    name: str
    positional: tuple[Value, ...]
    named: Mapping[str, Value]
    end: int


def read_call(text: str, start: int) -> Call:
    """Parse the call that begins at the offset `start`. Raises BadCall."""
    return _Reader(text, start).call()


@dataclass(slots=True)
class _Reader:
    text: str
    at: int

    def call(self) -> Call:
        name = self._match(_NAME)
        if not name:
            raise BadCall("there is no action name")
        if not self._next_in(_OPEN):
            raise BadCall(f"an opening parenthesis after {echo(name)} is missing")
        self.at += 1
        positional: list[Value] = []
        named: dict[str, Value] = {}
        while not self._next_in(_CLOSE):
            argument = self._argument_name()
            value = self._value(0)
            if not argument:
                positional.append(value)
            elif argument in named:
                raise BadCall(f"{echo(argument)} is given twice in {echo(name)}")
            else:
                named[argument] = value
            if not self._next_in(_COMMA + _CLOSE):
                raise BadCall(f"a comma or a closing parenthesis is missing in {echo(name)}")
            if self._next_in(_COMMA):
                self.at += 1
        self.at += 1
        return Call(name, tuple(positional), named, self.at)

    def _argument_name(self) -> str:
        """Return the name before an equals sign; "" if there is only a value."""
        self._skip()
        before = self.at
        name = self._match(_NAME)
        if name and self._next_in(_EQUALS):
            self.at += 1
            return name
        self.at = before
        return ""

    def _value(self, depth: int) -> Value:
        self._skip()
        opening = self.text[self.at : self.at + 1]
        if opening in _QUOTES:
            return self._quoted(_QUOTES[opening], depth)
        if opening in _LIST_ENDS:
            return self._list(_LIST_ENDS[opening], depth + 1)
        if opening == "{":
            return self._braces(depth + 1)
        if found := self._match(_NUMBER):
            return float(found) if "." in found else int(found)
        if found := self._match(_TAGGED):
            return found
        word = self._match(_NAME)
        if not word or not self._next_in(_COMMA + _CLOSE + "]］}"):
            raise BadCall(f"a value is missing or is not a plain value near {self.text[self.at : self.at + 20]!r}")
        return _CONSTANTS.get(word, word)

    def _list(self, ends: str, depth: int) -> Value:
        if depth > _MAX_DEPTH:
            raise BadCall("lists are nested too deeply")
        self.at += 1
        values: list[Value] = []
        while not self._next_in(ends):
            values.append(self._value(depth))
            if self._next_in(_COMMA):
                self.at += 1
            elif not self._next_in(ends) and not isinstance(values[-1], (int, float)):
                raise BadCall("a list is not closed")
        self.at += 1
        return tuple(values)

    def _braces(self, depth: int) -> Value:
        """Parse a place in braces: x and y by name, in any order, or bare values."""
        if depth > _MAX_DEPTH:
            raise BadCall("lists are nested too deeply")
        self.at += 1
        named: dict[str, Value] = {}
        bare: list[Value] = []
        while not self._next_in("}"):
            if key := _KEY.match(self.text, self.at):
                self.at = key.end()
                named[key[1].lower()] = self._value(depth)
            else:
                bare.append(self._value(depth))
            if self._next_in(_COMMA):
                self.at += 1
            elif not self._next_in("}"):
                raise BadCall("a place in braces is not closed")
        self.at += 1
        if not named:
            return tuple(bare)
        if bare or named.keys() != {"x", "y"}:
            raise BadCall("a place in braces needs x and y")
        return (named["x"], named["y"])

    def _quoted(self, quote: str, depth: int) -> str:
        """Parse a text up to the first quote that can end it, or the second best if there is none.

        A mistaken quote ends it if another text clearly begins after it, or if no right quote follows.
        """
        opening = self.text[self.at]
        self.at += 1
        position, second_best, mistaken = self.at, -1, -1
        while position < len(self.text):
            character = self.text[position]
            if character == "\\":
                position += 2
                continue
            if character == quote and (fit := self._ends_text(position + 1, depth)):
                if fit > 1:
                    return self._cut(position)
                second_best = position if second_best < 0 else second_best
            elif character in _MISTAKEN[quote]:
                following = _NEXT_TEXT.match(self.text, position + 1)
                if following and following[1] == opening:
                    return self._cut(position)
                if mistaken < 0 and self._ends_text(position + 1, depth) > 1:
                    mistaken = position
            position += 1
        end = second_best if second_best >= 0 else mistaken
        if end < 0:
            raise BadCall("a text is not closed with its quote")
        return self._cut(end)

    def _cut(self, end: int) -> str:
        raw, self.at = self.text[self.at : end], end + 1
        return whole_signs(re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), raw, flags=re.DOTALL))

    def _ends_text(self, after: int, depth: int) -> int:
        """Return 2 if the call clearly continues or ends at `after`, 1 if it may, 0 if it cannot."""
        position = self._blank_end(after)
        following = self.text[position : position + 1]
        if not following:
            return 0
        if following in _COMMA or (depth and following in "]］}"):
            return 2
        if following not in _CLOSE:
            return 0
        return 2 if depth or _AFTER_CALL.match(self.text, position + 1) else 1

    def _blank_end(self, start: int) -> int:
        found = _BLANK.match(self.text, start)
        return found.end() if found else start

    def _skip(self) -> None:
        self.at = self._blank_end(self.at)

    def _next_in(self, characters: str) -> bool:
        self._skip()
        return self.text[self.at : self.at + 1] in set(characters)

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if not found:
            return ""
        self.at = found.end()
        return found[0]


_NAMED = 3
"""The maximum number of arguments that an error names."""


class Arguments:
    """The arguments of one call. A dialect takes them out one by one, by name or by position, and then calls `end`."""

    def __init__(self, call: Call) -> None:
        self._action = echo(call.name)
        self._named = dict(call.named)
        self._positional = list(call.positional)

    def named_action(self, name: str) -> None:
        """Set the action's name, as the model knows it, for error messages."""
        self._action = echo(name)

    def take_named(self, *names: str) -> dict[str, Value]:
        """Take out all values given under these names, by name, including None."""
        return {name: self._named.pop(name) for name in names if name in self._named}

    def take(self, *names: str, by_place: bool = True) -> Value:
        """Take out the value under the first of these names that is present, otherwise the next positional value. None
        if there is neither. `by_place` allows positional values.
        """
        for name in names:
            if name in self._named:
                return self._named.pop(name)
        return self._positional.pop(0) if by_place and self._positional else None

    def rest_by_place(self) -> tuple[Value, ...]:
        """Take out all remaining positional values."""
        rest, self._positional = tuple(self._positional), []
        return rest

    def text(self, *names: str) -> str:
        """Take out a text that must be given and not be empty, by name or by position as in `take`. Raises BadReply."""
        text = self.optional_text(*names)
        if not text:
            raise BadReply(f"{self._action} needs a text in {names[0]}, and it must not be empty.")
        return text

    def optional_text(self, *names: str) -> str:
        """Take out a text, by name or by position as in `take`; "" if it is missing. Raises BadReply if the value is
        not a text.
        """
        value = self.take(*names)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise BadReply(f"{names[0]} of {self._action} must be a text in quotes.")
        return value

    def end(self) -> None:
        """Check that all arguments were taken out. Raises BadReply if not, which often means that a quote in a text was
        not escaped.
        """
        if self._named:
            names = ", ".join(echo(name) for name in list(self._named)[:_NAMED])
            raise BadReply(f"{self._action} does not take {names}. Escape quotes inside a text with a backslash.")
        if self._positional:
            raise BadReply(
                f"{self._action} has more values than it takes. Escape quotes inside a text with a backslash."
            )
