"""Makes captions for cards and lists: complete phrases of at most ten words about what a step does.

In scripts without spaces, a typical number of letters counts as a word.
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
"""Letters per word: Chinese and Japanese; Thai, Lao, Burmese and Khmer."""
_SENTENCE: Final = re.compile(
    r"(?<![\s.][^\W\d_])(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bNo)(?<!\bSt)(?<!\bvs)"
    r"[.!?;]+[\"'”’)]?(?=\s)|[。！？；][”’」）]?"
)
"""The end of a sentence within a line, ignoring the dots of abbreviations and initials."""
_PAIRS: Final = ("()", "（）", "“”", "「」", "[]", "《》", "【】")
_MARKDOWN: Final = re.compile(r"^[\s#>*-]+(?=\S)|\*\*|__|`")
_KEPT: Final = ((6, 24), (4, 16), (2, 10), (1, 6))
"""How many words and letters of each value a description keeps: ever fewer until it fits."""


def is_short(text: str) -> bool:
    """Whether a text is short enough for a caption."""
    return len(text) <= LETTERS and _words(text) <= WORDS


def phrase(text: str) -> str:
    """Return the first line with words, without Markdown marks, if it is short enough for a caption, otherwise as many
    of its first sentences as are and leave no quotation mark or bracket open; "" if none do.
    """
    lines = (" ".join(_MARKDOWN.sub("", line).split()) for line in text.splitlines())
    line = next(filter(None, lines), "")
    if is_short(line):
        return line
    starts = [line[: end.end()] for end in _SENTENCE.finditer(line)]
    return next((start for start in reversed(starts) if is_short(start) and _is_closed(start)), "")


def deed(done: Sequence[str]) -> str:
    """Return a caption of as many of these descriptions of actions as fit, at least one, in the reader's language."""
    caption = ""
    for each in done:
        longer = f"{caption} · {said(each)}" if caption else _fitted(each)
        if caption and not is_short(longer):
            break
        caption = longer
    return caption


def _fitted(description: str) -> str:
    """Shorten the values in a description until it fits: the verb stays, and the end of typed text goes."""
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
    """Count the words; punctuation alone does not count."""
    number = 0.0
    for written in text.split():
        rest = written
        for letters, length in _LETTERS_OF_WORD:
            rest, found = letters.subn("", rest)
            number += found / length
        number += any(map(str.isalnum, rest))
    return ceil(number)


def _is_closed(text: str) -> bool:
    """Whether no quotation mark or bracket is left open."""
    return text.count('"') % 2 == 0 and all(text.count(begin) == text.count(end) for begin, end in _PAIRS)
