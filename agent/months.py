"""Dates in the words of a screen: which day, month and year a text of a picker tells of."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

_YEAR: Final = re.compile(r"(?<!\d)((?:1[6-9]|2[01])\d\d)(?!\d)")
_EASTERN: Final = re.compile(r"(\d{1,2})\s*[月월]|\b(?:tháng|thg)\s*(\d{1,2})")
"""Months by their number, as Chinese, Japanese, Korean and Vietnamese name them."""
_IN_NUMBERS: Final = re.compile(
    r"((?:1[6-9]|2[01])\d\d)\s*[-/.]\s*(\d{1,2})(?!\d)|(?<!\d)(\d{1,2})\s*[-/.]\s*(?=(?:1[6-9]|2[01])\d\d)"
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMBER: Final = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_LEAST: Final = 3
"""Letters of a month's name that is cut short."""


@dataclass(frozen=True, slots=True)
class ToldDate:
    """What a text tells of a date; None for what it does not say."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


def date_in(text: str) -> ToldDate:
    """The date in a text such as "Sat, Sep 5", "September 2026" or "2026年9月5日"."""
    rest = unicodedata.normalize("NFKC", text).casefold()
    year = month = None
    if found := _IN_NUMBERS.search(rest):
        month = int(found[2] or found[3])
        rest = rest.replace(found[0], f"{found[1] or ''} ", 1)
    if named := _YEAR.search(rest):
        year, rest = int(named[1]), rest.replace(named[0], " ", 1)
    if month is None and (found := _EASTERN.search(rest)):
        month, rest = int(found[1] or found[2]), rest.replace(found[0], " ", 1)
    if month is None:
        # A weekday may look like a month ("mar" is Tuesday in Italian), and stands before it.
        month = next(filter(None, map(_named, reversed(_WORD.findall(rest)))), None)
    if month is not None and not 1 <= month <= 12:
        month = None
    days = [int(each) for each in _NUMBER.findall(rest)]
    return ToldDate(year, month, days[0] if len(days) == 1 and 1 <= days[0] <= 31 else None)


@cache
def _named(word: str) -> int | None:
    """The month of this name, which may be cut short."""
    if len(word) < _LEAST:
        return None
    found = [month for name, month in _names() if name == word] or [
        month for name, month in _names() if name.startswith(word)
    ]
    return found[0] if found else None


@cache
def _names() -> tuple[tuple[str, int], ...]:
    table = tomllib.loads(resources.files("agent").joinpath("months.toml").read_text(encoding="utf-8"))
    return tuple(
        (unicodedata.normalize("NFKC", form.strip()).casefold(), month)
        for names in table.values()
        for month, forms in enumerate(names.split(","), 1)
        for form in forms.split("/")
    )
