"""Quoted text is kept as it is: taken out before anything is read, and put back afterwards."""

from __future__ import annotations

import re

_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("‘", "’"), ("「", "」"), ("『", "』"), ("«", "»"), ("`", "`"))
_QUOTED = re.compile(
    "|".join(rf"{start}([^{end}]+){end}" for start, end in _PAIRS)
    # An apostrophe is a quote only at the edge of a word, and closes only before a space or a sign.
    + r"|(?<![\w'])'((?:[^']|'(?=\w))+)'(?!\w)"
)
_FIRST = 0xE000
_HOLDER = re.compile("[\ue000-\ue0ff]")
MOST = 0x100
"""Quotes in one instruction; the characters of the private use area that stand for them."""


class Quotes:
    """The quotes of one text; `text` has a private-use character in place of each."""

    def __init__(self, text: str) -> None:
        self._kept: list[str] = []
        self.text = _QUOTED.sub(self._take, _HOLDER.sub("", text))

    def _take(self, found: re.Match[str]) -> str:
        if len(self._kept) == MOST:
            return found[0]
        self._kept.append(next(group for group in found.groups() if group is not None))
        return chr(_FIRST + len(self._kept) - 1)

    def restored(self, text: str) -> str:
        """The text with the quotes in it again, without their marks."""
        return _HOLDER.sub(lambda found: self._kept[ord(found[0]) - _FIRST], text)


def is_quote(text: str) -> bool:
    """Whether a text consists of one quote alone."""
    return bool(_HOLDER.fullmatch(text.strip()))
