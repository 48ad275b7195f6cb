"""Columns in a terminal, where a Chinese character takes the room of two letters."""

from __future__ import annotations

import unicodedata


def padded(text: str, width: int) -> str:
    """The text with blanks behind it up to that many cells."""
    cells = sum(2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1 for sign in text)
    return text + " " * max(0, width - cells)
