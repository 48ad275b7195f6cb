"""Plain text on its way to a platform: its length there, and which lines of it are code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

WHOLE_TEXT: Final = "message.txt"
"""The file name of a text that was too long for a message."""

NOTHING: Final = "…"
"""Sent in place of an empty message, which platforms refuse."""

HEADING: Final = 200
FOOTER: Final = 300
"""Maximum UTF-16 units of heading and footer before escaping; our choice, to leave most of a message to its body."""

_FENCE: Final = re.compile(r"^```(?P<language>[\w+#.-]{0,20})\s*$")

Block = tuple[int, str] | None
"""Number and language of the code block that a line belongs to; None outside of code blocks."""

Line = tuple[str, Block]

_CRUMB: Final = 40
"""UTF-16 units; a part with less room left is not filled with the beginning of a long line."""


def size(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)


def cut(text: str, units: int) -> str:
    """The longest prefix of `text` with at most `units` UTF-16 units."""
    used = 0
    for index, character in enumerate(text):
        used += size(character)
        if used > units:
            return text[:index]
    return text


def short(text: str, units: int) -> str:
    """The text without surrounding blanks, cut to `units`."""
    text = text.strip()
    return text if size(text) <= units else cut(text, units - 1).rstrip() + "…"


def broken(line: str, units: int) -> str:
    """The beginning of a line, up to a blank if its second half has one; at least one character."""
    piece = cut(line, units) or line[0]
    blank = piece.rfind(" ") + 1
    return piece[:blank] if blank > len(piece) // 2 else piece


def lines_of(body: str) -> Iterator[Line]:
    """Each line with its code block. A fence that is never closed opens no block."""
    lines = body.splitlines()
    ends = [number for number, line in enumerate(lines) if line.strip() == "```"]
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        closes = next((number for number in ends if number > index), None) if fence else None
        if fence is None or closes is None:
            yield lines[index], None
            index += 1
            continue
        for line in lines[index + 1 : closes]:
            yield line, (index, fence["language"])
        index = closes + 1


def packed(body: str, first: int, later: int) -> list[list[Line]]:
    """The lines packed into parts of limited length; the first part may have another limit. None if there is no
    text.
    """
    packer = _Packer(first, later)
    for line, block in lines_of(body):
        packer.add(line, block)
    return packer.finish()


class _Packer:
    """Fills parts line by line; a code block that is split is a code block in both parts."""

    def __init__(self, first: int, later: int) -> None:
        self._room = first
        self._later = later
        self._parts: list[list[Line]] = []
        self._lines: list[Line] = []
        self._used = 0

    def add(self, line: str, block: Block) -> None:
        """Add a line; one longer than a part is broken between words where possible."""
        while self._used + size(line) > self._room:
            if self._lines and size(line) <= self._later:
                self._flush()
                continue
            if self._room - self._used < min(_CRUMB, size(line)):
                self._flush()
                continue
            piece = broken(line, self._room - self._used)
            self._put(piece.rstrip(" "), block)
            self._flush()
            line = line[len(piece) :]
        self._put(line, block)

    def finish(self) -> list[list[Line]]:
        """All parts that are not empty."""
        self._flush()
        return self._parts

    def _put(self, line: str, block: Block) -> None:
        self._lines.append((line, block))
        self._used += size(line) + 1

    def _flush(self) -> None:
        while self._lines and not self._lines[0][0].strip():
            del self._lines[0]
        while self._lines and not self._lines[-1][0].strip():
            del self._lines[-1]
        if self._lines:
            self._parts.append(self._lines)
            self._room = self._later
        self._lines, self._used = [], 0
