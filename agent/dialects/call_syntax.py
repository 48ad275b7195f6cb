"""Reads `name(argument='value', …)` as models print it, without ever executing text.

Tolerated, because models write it: full-width punctuation around values, a space before the parenthesis, values
without names, single words and `<point>…</point>` without quotes, raw line ends in text, and quotes inside text
that were not escaped (a quote ends a text only where the call can go on after it).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | float | bool | None | tuple["Value", ...]

_MAX_DEPTH = 3
"""Lists in lists; no call of these models nests deeper than two."""

_OPEN, _CLOSE, _COMMA, _EQUALS = "(（", ")）", ",，", "=＝"
_LIST_ENDS = {"[": "]", "［": "］", "(": ")）", "（": ")）"}
_QUOTES = {"'": "'", '"': '"', "“": "”", "‘": "’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_CONSTANTS: dict[str, Value] = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?(?![\w.])")
_TAGGED = re.compile(r"<\|?[a-z_]+\|?>[^<>'\"]*<[/|][a-z_]+\|?>")
_BLANK = re.compile(r"\s*")
_AFTER_CALL = re.compile(r"\Z|[\s.。;；,，<`'\"|)）]")


class BadCall(ValueError):
    """Text that is no call; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was written; `end` is the offset just behind its closing parenthesis."""

    name: str
    positional: tuple[Value, ...]
    named: Mapping[str, Value]
    end: int


def read_call(text: str, start: int) -> Call:
    """The call that begins at `start`. Raises BadCall."""
    return _Reader(text, start).call()


@dataclass(slots=True)
class _Reader:
    text: str
    at: int

    def call(self) -> Call:
        name = self._match(_NAME)
        if not name:
            raise BadCall("there is no action name")
        self._expect(_OPEN, f"an opening parenthesis after {name}")
        positional: list[Value] = []
        named: dict[str, Value] = {}
        while not self._next_in(_CLOSE):
            argument = self._argument_name()
            value = self._value(0)
            if not argument:
                positional.append(value)
            elif argument in named:
                raise BadCall(f"{argument} is given twice in {name}")
            else:
                named[argument] = value
            if not self._next_in(_COMMA + _CLOSE):
                raise BadCall(f"a comma or a closing parenthesis is missing in {name}")
            if self._next_in(_COMMA):
                self.at += 1
        self.at += 1
        return Call(name, tuple(positional), named, self.at)

    def _argument_name(self) -> str:
        """The name before an equals sign, "" when the value stands alone."""
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
        for pattern in (_NUMBER, _TAGGED):
            if found := self._match(pattern):
                if pattern is _TAGGED:
                    return found
                return float(found) if "." in found else int(found)
        word = self._match(_NAME)
        if not word or not self._next_in(_COMMA + _CLOSE + "]］"):
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

    def _quoted(self, quote: str, depth: int) -> str:
        """A text up to the first quote that can end it; a second best end is taken when there is none."""
        self.at += 1
        position, second_best = self.at, -1
        while position < len(self.text):
            character = self.text[position]
            if character == "\\":
                position += 2
                continue
            if character == quote and (fit := self._ends_text(position + 1, depth)):
                if fit > 1:
                    return self._cut(position)
                second_best = position if second_best < 0 else second_best
            position += 1
        if second_best < 0:
            raise BadCall("a text is not closed with its quote")
        return self._cut(second_best)

    def _cut(self, end: int) -> str:
        raw, self.at = self.text[self.at : end], end + 1
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), raw, flags=re.DOTALL)

    def _ends_text(self, after: int, depth: int) -> int:
        """2 when the call clearly goes on or ends at `after`, 1 when it may, 0 when it cannot."""
        position = self._blank_end(after)
        following = self.text[position : position + 1]
        if not following:
            return 0
        if following in _COMMA or (depth and following in "]］"):
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

    def _expect(self, characters: str, what: str) -> None:
        if not self._next_in(characters):
            raise BadCall(f"{what} is missing")
        self.at += 1

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if not found:
            return ""
        self.at = found.end()
        return found[0]
