"""Recognises amounts of money in labels: a number next to the sign, code or word of a currency."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from devices.wording import table_of

_TABLE: Final = {
    name: [word.rstrip(".") for word in words.split()]
    for name, words in table_of("agent.guards", "currencies.toml").items()
}
_WRITTEN: Final = frozenset(_TABLE["codes"] + _TABLE["as_written"])
_LOCAL: Final = frozenset(_TABLE["local"])
_ENGLISH: Final = frozenset(_TABLE["words_too"])
_SIGNS: Final = [sign for sign in map(chr, range(0x20000)) if unicodedata.category(sign) == "Sc"]
_FREE: Final = "|".join(map(re.escape, sorted([*_SIGNS, *_TABLE["joined"]], key=len, reverse=True)))
_SIGN_ENDS: Final = frozenset(sign[-1] for sign in (*_SIGNS, *_TABLE["joined"]))
_LAST_PARTS: Final = frozenset(word.rpartition(".")[2].casefold() for word in (*_WRITTEN, *_LOCAL, *_ENGLISH))
"""What follows the last dot of a currency's name."""

_NUMBER: Final = re.compile(r"\d(?:[\d.,\u066b\u066c\u00a0\u202f'’ ]*\d)?")
_CENTS: Final = re.compile(r"[.,]\d\d\Z")
_BARE: Final = re.compile(r"[-+−]?\d{1,3}(?:[., \u00a0\u202f'’]?\d{3}){0,5}[.,\u066b]\d{2}")
_WORD: Final = r"[^\W\d_]{1,12}(?:\.[^\W\d_]{1,3})*"
_BEHIND: Final = re.compile(rf"[\s.,\-]{{0,8}}(?:(?P<free>{_FREE})|(?P<word>{_WORD}))")
_AHEAD: Final = re.compile(rf"(?:(?P<free>{_FREE})|(?<![^\W\d_])(?P<word>{_WORD}))[\s.,\-]{{0,8}}\Z")
KEPT = 2048
"""How many results per function are cached, by label."""
_REACH: Final = 24
"""Characters before a number that are examined: the longest currency word and spaces."""


@lru_cache(KEPT)
def has_amount(label: str) -> bool:
    """Whether the label contains an amount of money."""
    return bool(_spans(label))


def amounts_in(label: str) -> tuple[str, ...]:
    """Return the amounts of money in a label, in order, as written."""
    seen = _seen(label)
    return tuple(seen[start:end].strip() for start, end in _spans(label))


@lru_cache(KEPT)
def is_amount(label: str, *, bare: bool = False) -> bool:
    """Whether the label is nothing but an amount of money. With `bare`, a number with two decimals and no currency
    counts too; use this where something is paid.
    """
    if _NUMBER.search(label) is None:
        return False
    seen = _seen(label)
    whole = any(not (seen[:start] + seen[end:]).strip().strip("-+− ") for start, end in _spans(label))
    return whole or (bare and _BARE.fullmatch(seen.strip()) is not None)


def without_amounts(label: str) -> str:
    """Return the label without the amounts of money in it."""
    seen = _seen(label)
    for start, end in reversed(_spans(label)):
        seen = f"{seen[:start]} {seen[end:]}"
    return " ".join(seen.split())


@lru_cache(KEPT)  # most labels are asked about in more than one way
def _spans(label: str) -> tuple[tuple[int, int], ...]:
    """Return the start and end of each amount, in the visible characters of the label."""
    return tuple(_amounts(_seen(label))) if _NUMBER.search(label) is not None else ()


def _amounts(seen: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each amount. Each number is examined once, so the time is linear."""
    for number in _NUMBER.finditer(seen):
        start, end = number.span()
        behind, reach = _BEHIND.match(seen, end), max(0, start - _REACH)
        ahead = _AHEAD.search(seen[reach:start]) if _may_end_with_currency(seen[reach:start]) else None
        if behind and (behind["free"] or _is_currency(behind["word"]) or behind["word"] in _ENGLISH):
            yield start, behind.end()
        elif ahead and (
            ahead["free"]
            or _is_currency(ahead["word"])
            or (ahead["word"] in _ENGLISH and _CENTS.search(number[0]) is not None)
        ):
            yield reach + ahead.start(), end


def _may_end_with_currency(before: str) -> bool:
    """Whether the last sign or letters end some currency's name, so that a search is worthwhile."""
    at = len(before)
    while at and (before[at - 1].isspace() or before[at - 1] in ".,-"):
        at -= 1
    before = before[:at]
    while at and before[at - 1].isalpha():
        at -= 1
    return before[-1:] in _SIGN_ENDS or before[at:].casefold() in _LAST_PARTS


def _is_currency(word: str) -> bool:
    return word in _WRITTEN or word.casefold() in _LOCAL


def _seen(label: str) -> str:
    """Return the label without invisible characters, which right-to-left and disguised amounts contain."""
    if label.isascii():
        return label
    return "".join(sign for sign in unicodedata.normalize("NFC", label) if unicodedata.category(sign) != "Cf")
