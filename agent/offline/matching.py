"""Decides whether a label on the screen is the one that a person means. In case of doubt it is not."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from agent.offline.vocabulary import Place, labels
from devices.wording import language_here

EXACT = 1.0
SAME = 0.97
"""The likeness of another name for the same thing."""
PART = 0.9
"""The likeness if the wanted words are all together in the label and make up most of it."""
SLIP = 0.86
"""The likeness of an EXACT or PART match with a typing error in a long word."""
GOOD = SLIP
"""The minimum likeness that a label must have to be touched."""

_SHARE = 0.6
"""The share of the label's letters that the wanted words must make up ("coffee beans" in "Coffee beans 500 g")."""
_SLIP_LETTERS = 6
_SLIP_RATIO = 0.85
"""The minimum difflib ratio; "bluetoth" and "bluetooth" have 0.94."""
_GIST = 60
"""Letters compared; the element list cuts texts after 80."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


def folded(text: str) -> str:
    """Return a text in the form in which texts are compared: without case, width and punctuation, words separated by
    one space.
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("&", " and ").replace("'", "").replace("’", "")
    return " ".join(_WORD.findall(plain))


def is_chinese(text: str) -> bool:
    """Whether the text contains a Chinese, Japanese or Korean character."""
    return bool(_CJK.search(text))


def speaks_chinese(text: str) -> bool:
    """Whether the pilot speaks Chinese in this task: if the task's text is Chinese, or the person's language is."""
    return is_chinese(text) or language_here() == "zh"


def likeness(wanted: str, label: str) -> float:
    """Return how well `label` matches `wanted`, from 0 to 1 (see GOOD). Words such as "button" around `wanted` are
    ignored.
    """
    return max((_likeness(each, folded(label)) for each in _variants(folded(wanted))), default=0.0)


def gist(text: str) -> str:
    """Return the beginning of a text, in the form in which it is compared with texts on a screen."""
    return (folded(text) or " ".join(text.split()))[:_GIST]


def contains(text: str, wanted: str) -> bool:
    """Whether the words of `wanted` occur together in `text`, ignoring case and punctuation."""
    inner = folded(wanted)
    return bool(inner) and f" {inner} " in f" {folded(text)} "


def _variants(wanted: str) -> Iterator[str]:
    yield wanted
    wanted = wanted.removeprefix("the ")
    yield wanted
    before, after = _around()
    for word in before:
        if wanted.startswith(f"{word} "):
            yield wanted[len(word) + 1 :]
    for word in after:
        if wanted.endswith(f" {word}"):
            yield wanted[: -len(word) - 1]


@cache
def _around() -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(map(folded, labels().around_before)), tuple(map(folded, labels().around_after))


@cache
def _groups() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, names in enumerate(labels().same):
        for name in names:
            groups.setdefault(folded(name), set()).add(number)
    return {name: frozenset(numbers) for name, numbers in groups.items()}


def _likeness(wanted: str, label: str) -> float:
    if not wanted or not label:
        return 0.0
    if wanted == label or wanted.replace(" ", "") == label.replace(" ", ""):
        return EXACT
    mine, theirs = _groups().get(wanted, frozenset()), _groups().get(label, frozenset())
    if mine & theirs:
        return SAME
    others = [name for name, numbers in _groups().items() if numbers & mine]
    return max((_part(name.split(), label.split()) for name in (wanted, *others)), default=0.0)


def _part(wanted: list[str], label: list[str]) -> float:
    """Match the wanted words in a row inside the label. Numbers and short words must be equal."""
    best = 0.0
    total = sum(map(len, label))
    for start in range(len(label) - len(wanted) + 1):
        window = label[start : start + len(wanted)]
        close = [_same_word(mine, theirs) for mine, theirs in zip(wanted, window, strict=True)]
        if min(close) == 0:
            continue
        rest = [word for word in (*label[:start], *label[start + len(wanted) :]) if not word.isdigit()]
        share = sum(map(len, window)) / total
        # The words around it may only be a count or a unit, or shorter than the wanted words.
        if rest and share < _SHARE:
            continue
        best = max(best, PART if min(close) == 1 else SLIP)
    return best


def _same_word(wanted: str, label: str) -> float:
    """Return 1 for the same word, less for a typing error, 0 for another word."""
    if wanted == label:
        return 1.0
    if any(each.isdigit() for each in wanted + label) or wanted[0] != label[0]:
        return 0.0
    short, long = sorted((wanted, label), key=len)
    if len(short) >= 3 and long in {f"{short}s", f"{short}es"}:
        return SLIP
    if len(short) < _SLIP_LETTERS:
        return 0.0
    ratio = difflib.SequenceMatcher(None, wanted, label).ratio()
    return ratio if ratio >= _SLIP_RATIO else 0.0


def place_of(what: str) -> Place | None:
    """Return the place on a phone where this information can be read, such as a page of Settings; None if unknown."""
    return next(
        (place for place in labels().places if any(likeness(what, thing) >= SAME for thing in place.things)), None
    )
