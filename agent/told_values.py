"""Reads numbers and dates in the words of a screen, whatever their form and language. Ambiguous numbers are not
read.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

from devices.wording import table_of

_CLUSTER: Final = re.compile("\\d(?:[.,:/'\u2019\u00a0\u202f\u066b\u066c]?\\d)*")
_MARKS: Final = re.compile("[\u200e\u200f\u061c\u2066-\u2069]")
"""Invisible characters that change the direction of a text."""
_SIGN: Final = re.compile("(?<![\\w%)\u066a])(?<!\\d )[-\u2212\u2013]\\Z")
_PERCENT: Final = re.compile(r"\s*(?:[%٪％﹪]|(?:percent|per cent|prozent|por ciento|pour cent)\b)", re.IGNORECASE)
_SCALED: Final = re.compile(
    r"\s?(?:[kKMB](?!\w)|[万萬亿億千만억]|(?:tsd|mio|mrd|thousand|million|billion|lakh|crore|тыс|млн)(?!\w))"
)
"""Words after which a number is only the first digits of the real one, such as "million"."""
_ONLY_GROUPS: Final = str.maketrans(dict.fromkeys("'\u2019\u00a0\u202f\u066c", "'") | {"\u066b": "."})
_THREES: Final = r"\d{1,3}(?:[%s]\d{3})+"
_INDIAN: Final = r"\d{1,2}(?:,\d{2})*,\d{3}"
_DOTS: Final = frozenset(re.findall(r"\w+", "az bs ca da de el es eu gl hr id in is it mk nl pt ro sl sr tr vi"))
"""Languages that group digits with a dot (CLDR); others here use a comma."""
_BLANKS: Final = frozenset(re.findall(r"\w+", "be bg cs et fi fr hu hy kk lt lv nb nn no pl ru sk sq sv uk uz"))
"""Languages that group digits with a space."""
_OTHERWISE: Final = {"es-MX": ",", "es-US": ",", "de-CH": "", "de-LI": "", "it-CH": "", "en-ZA": ""}


@dataclass(frozen=True, slots=True)
class ToldNumber:
    """A number in a text. `percent` means that it is a percentage."""

    value: float
    percent: bool = False

    def __str__(self) -> str:
        whole = self.value.is_integer()
        return (str(int(self.value)) if whole else repr(self.value)) + "%" * self.percent


def numbers_in(text: str, locale: str = "en") -> tuple[ToldNumber, ...]:
    """Return the numbers in a text in order. Returns none at all if any is ambiguous or part of a date, time, fraction
    or shortened number ("2.5k").

    `locale` is the phone's, such as "de-CH"; it says how digits are grouped.
    """
    plain = _MARKS.sub("", "".join(_digit(sign) for sign in text))
    if _language(locale) in _BLANKS:
        plain = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\u00a0", plain)
    found = []
    for cluster in _CLUSTER.finditer(plain):
        before, behind = plain[: cluster.start()], plain[cluster.end() :]
        value = _value(cluster[0].translate(_ONLY_GROUPS), _group(locale))
        if value is None or _SCALED.match(behind) or re.match(r"\s?[/:]\s?\d", behind):
            return ()
        if re.search(r"[A-Za-z_.,]\Z|\d\s?[/:]\s?\Z", before):
            return ()
        sign = -1 if _SIGN.search(before) else 1
        percent = _PERCENT.match(behind) is not None or before.rstrip()[-1:] == "%"
        found.append(ToldNumber(sign * value, percent))
    return tuple(found)


def number_in(text: str, locale: str = "en") -> ToldNumber | None:
    """Return the number in a text; None if there is not exactly one that can be read."""
    found = numbers_in(text, locale)
    return found[0] if len(found) == 1 else None


def _value(cluster: str, group: str) -> float | None:
    """Return the value of these digits; None if it is not certain."""
    signs = re.sub(r"\d", "", cluster)
    if not signs:
        return float(cluster)
    if "'" in signs:
        whole, _, rest = re.sub(r"[.,]", ".", cluster).partition(".")
        good = re.fullmatch(_THREES % "'", whole) and re.fullmatch(r"\d*", rest)
        return float(f"{whole.replace(chr(39), '')}.{rest or 0}") if good else None
    if ":" in signs or "/" in signs:
        return None
    last = signs[-1]
    whole, _, rest = cluster.rpartition(last)
    if len(signs) == 1:
        if len(rest) != 3 or len(whole) > 3 or not int(whole):
            return float(f"{whole}.{rest}")
        return float(whole + rest) if last == group else None
    between = signs[0]
    if set(signs) == {last}:  # a number has only one decimal point, so these separate groups
        whole, rest = cluster, "0"
    threes = re.fullmatch(_THREES % re.escape(between), whole)
    if threes or (between == "," and re.fullmatch(_INDIAN, whole)):
        return float(f"{whole.replace(between, '')}.{rest}")
    return None


def _group(locale: str) -> str:
    """Return the sign between groups of digits in this locale; "" if neither a dot nor a comma."""
    if locale in _OTHERWISE:
        return _OTHERWISE[locale]
    language = _language(locale)
    return "." if language in _DOTS else "" if language in _BLANKS else ","


def _language(locale: str) -> str:
    return re.split(r"[-_]", locale, maxsplit=1)[0].casefold()


def _digit(sign: str) -> str:
    return str(unicodedata.decimal(sign)) if sign.isdecimal() else sign


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
    return table_of("agent", "months.toml")


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
