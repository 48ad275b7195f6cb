"""Ranks texts by how well they match the words of a question, in English, Chinese and similar scripts.

Scripts without spaces are split into pairs of neighbouring characters, since most Chinese words have two. English word
endings and words without meaning are ignored.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

MAX_TERMS: Final = 64
"""How many terms of a question are used at most, because a task may be as long as a page."""
_SATURATION: Final = 1.2
_LENGTH: Final = 0.5
"""How much a longer text counts less. Both are constants of BM25 (https://doi.org/10.1561/1500000019); this one is
smaller than usual because all facts are short.
"""
_HAN: Final = "\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_RUN: Final = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+(?:['’][^\W_{_HAN}]+)?")
_IS_HAN: Final = re.compile(rf"[{_HAN}]")
_OF_WHOM: Final = re.compile(r"['’]\w+$")
_ENDINGS: Final = ("ings", "ing", "ies", "ed", "es", "s", "e", "y")
_STEM: Final = 3
"""The minimum letters that remain after an ending is removed."""
_EMPTY: Final = frozenset(  # a list would fill a page
    "a about after all also always am an and any are as at be been before but by can could did do does every for from"  # noqa: SIM905
    " get give go had has have he her him his how i if in into is it its just know let like make may me mind must my"
    " need never no not now of off on one only or our out over please s she should so some t take that the their them"
    " then there they this to too under up us use usually very want was we were what when where which who whom whose"
    " why will with would you your".split()
)
_EMPTY_SIGNS: Final = re.compile(r"[的了是我你您他她它们吗呢吧啊呀么什哪谁怎这那和跟与给把被就都也还很在有请帮一下]+")


def terms(text: str) -> tuple[str, ...]:
    """Return the meaningful words of a text, each once and without its ending; pairs of characters in scripts without
    spaces. Each of them occurs literally in the casefolded text.
    """
    found: dict[str, None] = {}
    for run in _RUN.findall(text.casefold()):
        if _IS_HAN.match(run):
            for piece in _EMPTY_SIGNS.split(run):
                found.update(dict.fromkeys(piece[i : i + 2] for i in range(len(piece) - 1)))
        elif len(bare := _OF_WHOM.sub("", run)) > 1 and bare not in _EMPTY:
            found[_stem(bare)] = None
    return tuple(found)


def ranked(question: str, texts: Sequence[str], among: int | None = None) -> list[int]:
    """Return the indexes of the texts that share a word with the question, best first; among equal ones the later
    first.

    `among` is the total number of texts if `texts` is only a preselection.
    """
    wanted = terms(question)[:MAX_TERMS]
    held = [frozenset(terms(text)) for text in texts]
    frequency = Counter(term for each in held for term in each.intersection(wanted))
    if not frequency:
        return []
    average, number = sum(map(len, held)) / len(held), max(among or 0, len(held))
    scores = []
    for place, own in enumerate(held):
        shared = own.intersection(wanted)
        if shared:
            weight = sum(math.log(1 + (number - frequency[term] + 0.5) / (frequency[term] + 0.5)) for term in shared)
            long = 1 - _LENGTH + _LENGTH * len(own) / average
            scores.append((weight * (_SATURATION + 1) / (1 + _SATURATION * long), place))
    return [place for _, place in sorted(scores, reverse=True)]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word.removesuffix(ending)
    return word
