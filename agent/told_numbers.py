"""Reads numbers in the words of a screen, however their digits are grouped. Ambiguous numbers are not read."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

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
