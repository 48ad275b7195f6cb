"""Measures plain text as platforms do, splits it, and finds its code blocks."""

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
    """Return the length of the text in UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)


def cut(text: str, units: int) -> str:
    """Return the longest prefix of `text` with at most `units` UTF-16 units."""
    used = 0
    for index, character in enumerate(text):
        used += size(character)
        if used > units:
            return text[:index]
    return text


def short(text: str, units: int) -> str:
    """Return the text without surrounding blanks. If it is longer than `units` UTF-16 units, it is cut and ends with
    "…".
    """
    text = text.strip()
    return text if size(text) <= units else cut(text, units - 1).rstrip() + "…"


def line_head(line: str, units: int) -> str:
    """Return the beginning of a line that is too long: at most `units` UTF-16 units but at least one character. It ends
    after a blank if there is one in its second half.
    """
    piece = cut(line, units) or line[0]
    blank = piece.rfind(" ") + 1
    return piece[:blank] if blank > len(piece) // 2 else piece


def lines_of(body: str) -> Iterator[Line]:
    """Yield each line of the text with the code block that it belongs to. The lines with ``` are left out. A code block
    that is never closed does not count as one.
    """
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


def pack(body: str, first: int, later: int) -> list[list[Line]]:
    """Distribute the lines of `body` over parts of limited length: `first` UTF-16 units for the first part, `later` for
    the others. Empty if there is no text.
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
            piece = line_head(line, self._room - self._used)
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
