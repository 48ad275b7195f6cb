"""Recognises dates in the words of a screen: the day, month and year in the text of a date picker."""

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
"""Months by number, as in Chinese, Japanese, Korean and Vietnamese."""
_IN_NUMBERS: Final = re.compile(
    r"((?:1[6-9]|2[01])\d\d)\s*[-/.]\s*(\d{1,2})(?!\d)|(?<!\d)(\d{1,2})\s*[-/.]\s*(?=(?:1[6-9]|2[01])\d\d)"
)
_PART: Final = re.compile(r"[^\s\d.,;:/()\[\]،、–—'’-]+")
"""A word of a date, including the combining marks of Indic scripts; currency signs and plus signs count as
words too.
"""
_NUMBER: Final = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_EASTERN_PARTS: Final = re.compile(
    r"(?<=\d)\s*[年년日일号號]|[月火水木金土日]曜日?|[월화수목금토일]요일|(?:星期|周|週|礼拜|禮拜)[一二三四五六日天]"
)


@dataclass(frozen=True, slots=True)
class ToldDate:
    """The parts of a date in a text; None for each part that the text does not contain."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


def date_in(text: str) -> ToldDate:
    """Return the date in a text such as "Sat, Sep 5", "September 2026" or "2026年9月5日", ignoring other words."""
    return _read(text)[0]


def bare_date(text: str) -> ToldDate:
    """Return the date in a text that has no other words apart from weekdays; a date without parts for any
    other text.
    """
    told, rest = _read(_EASTERN_PARTS.sub(" ", unicodedata.normalize("NFKC", text)))
    days = _NUMBER.findall(rest)
    months = [word for word in _PART.findall(rest) if word not in _others()]
    if len(days) != (told.day is not None) or len(re.findall(r"\d", rest)) != sum(map(len, days)):
        return ToldDate()
    return told if len(months) <= 1 and all(word in _months() for word in months) else ToldDate()


def _read(text: str) -> tuple[ToldDate, str]:
    """Return the date, and the text without the year and without a numeric month."""
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
        # A weekday may look like a month ("mar" is Tuesday in Italian), but comes before it.
        month = next((_months()[word] for word in reversed(_PART.findall(rest)) if word in _months()), None)
    if month is not None and not 1 <= month <= 12:
        month = None
    days = [int(each) for each in _NUMBER.findall(rest)]
    return ToldDate(year, month, days[0] if len(days) == 1 and 1 <= days[0] <= 31 else None), rest


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files("agent").joinpath("months.toml").read_text(encoding="utf-8"))


@cache
def _months() -> dict[str, int]:
    """Return the month number for each name and abbreviation."""
    return {
        form: month
        for names in reversed(_table()["months"].values())
        for month, forms in enumerate(names.split(","), 1)
        for form in map(_plain, forms.split("/"))
    }


@cache
def _others() -> frozenset[str]:
    """Return the words a date may have besides the month: weekdays, small words, and "today"."""
    table = _table()
    lists = [*table["weekdays"].values(), *table["beside"].values()]
    return frozenset(_plain(form) for names in lists for form in re.split(r"[,/]", names))


def _plain(form: str) -> str:
    return unicodedata.normalize("NFKC", form.strip()).casefold()
