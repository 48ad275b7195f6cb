"""Captions: what a step does, in at most ten words, for cards and lists. A caption is a whole phrase.

A word of a script without spaces counts as its usual number of letters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from typing import Final

from devices.wording import Words, said

WORDS: Final = 10
LETTERS: Final = 80
_LETTERS_OF_WORD: Final = (
    (re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), 2),
    (re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 5),
)
"""Chinese and Japanese; Thai, Lao, Burmese and Khmer."""
_SENTENCE: Final = re.compile(
    r"(?<![\s.][^\W\d_])(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bNo)(?<!\bSt)(?<!\bvs)"
    r"[.!?;]+[\"'”’)]?(?=\s)|[。！？；][”’」）]?"
)
"""The end of a sentence within a line, but for the dots of abbreviations and initials."""
_PAIRS: Final = ("()", "（）", "“”", "「」", "[]", "《》", "【】")
_MARKDOWN: Final = re.compile(r"^[\s#>*-]+(?=\S)|\*\*|__|`")
_KEPT: Final = ((6, 24), (4, 16), (2, 10), (1, 6))
"""How many words and letters of each value a description keeps: less and less, until it fits."""


def is_short(text: str) -> bool:
    """Whether it is no longer than a caption may be."""
    return len(text) <= LETTERS and _words(text) <= WORDS


def phrase(text: str) -> str:
    """The first line of a text as a caption, else as many of its first sentences as fit; "" where none does."""
    lines = (" ".join(_MARKDOWN.sub("", line).split()) for line in text.splitlines())
    line = next(filter(None, lines), "")
    if is_short(line):
        return line
    starts = [line[: end.end()] for end in _SENTENCE.finditer(line)]
    return next((start for start in reversed(starts) if is_short(start) and _is_closed(start)), "")


def deed(done: Sequence[str]) -> str:
    """What was done, in the language that is spoken here: as many of these descriptions as fit, at least one."""
    caption = ""
    for each in done:
        longer = f"{caption} · {said(each)}" if caption else _fitted(each)
        if caption and not is_short(longer):
            break
        caption = longer
    return caption


def _fitted(description: str) -> str:
    """A description with its values shortened until it fits: that it was typed stays, and of what was typed the end
    goes.
    """
    worded = said(description)
    for words, letters in _KEPT:
        if is_short(worded):
            break
        worded = said(_with_short_values(description, words, letters))
    return worded


def _with_short_values(description: str, words: int, letters: int) -> str:
    if isinstance(description, Words):
        return description.with_texts(lambda value: _with_short_values(value, words, letters))
    quote = description[:1] if description[:1] in {"'", '"'} and description.endswith(description[:1]) else ""
    inner = description[1:-1] if quote else description
    short = " ".join(inner.split()[:words])[:letters]
    while _words(short) > words:
        short = short[:-1]
    return description if short == inner else f"{quote}{short.rstrip(' …')}…{quote}"


def _words(text: str) -> int:
    """How many words it has; a sign alone is none."""
    number = 0.0
    for written in text.split():
        rest = written
        for letters, length in _LETTERS_OF_WORD:
            rest, found = letters.subn("", rest)
            number += found / length
        number += any(map(str.isalnum, rest))
    return ceil(number)


def _is_closed(text: str) -> bool:
    """Whether no quote or bracket is open at its end."""
    return text.count('"') % 2 == 0 and all(text.count(begin) == text.count(end) for begin, end in _PAIRS)
