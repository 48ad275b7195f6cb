"""Compares the words of a button with the words of a rule: whole words, ignoring case. English verbs must be at the
beginning or end, Chinese words may be anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from agent.guards.confusables import disguises, folded

CHINESE = re.compile(r"[\u3400-\u9fff]")
JOINED: Final = re.compile(
    "[\u0590-\u074f\u0780-\u07bf\u0900-\u0d7f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Scripts in which a word is also searched inside longer ones, because they use no spaces or join small words."""
MAX_EXTRA_WORDS = 4
"""How many words a button may have besides the decisive one, as in "Send to Anna Maria Smith". A longer caption is a
sentence.
"""
MAX_EXTRA_SIGNS = 8
"""The same limit for Chinese, in characters."""
NEGATIONS = ("don't ", "do not ", "never ", "not ", "no, ", "how to ", "why ", "when ")
NEGATIONS_CHINESE = ("不", "拒绝", "禁止", "取消", "如何", "怎么", "暂不")
_BEFORE = re.compile(r"\A[\W_]+(?=[\w$€£¥])")
_KEPT_AT_THE_END = re.compile(r"[\w?!%)]")
_ID_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
KEPT_WORDS = 2048
"""How many labels' compared forms are cached: the words of all rules, and those of a few screens."""
_ID_FURNITURE = {"btn", "button", "fab", "ic", "icon", "action", "menu", "view"}


@lru_cache(KEPT_WORDS)  # each label of a screen is compared with each word of each rule
def plain(label: str) -> str:
    """Return the label in the form in which labels are compared: casefolded, with look-alike characters unified,
    without arrows and dots at its ends.
    """
    return _trimmed(folded(label))


@lru_cache(KEPT_WORDS)
def readings(label: str) -> tuple[str, ...]:
    """Return all ways in which a person may read the label, in the form of `plain`: there are several if it uses
    disguised letters.
    """
    return tuple(dict.fromkeys((plain(label), *map(_trimmed, disguises(label)))))


def _trimmed(words: str) -> str:
    if words and not words[0].isalnum():
        words = _BEFORE.sub("", words, count=1)
    end = len(words)
    while end and not _KEPT_AT_THE_END.match(words[end - 1]):
        end -= 1
    return words[:end]


def spelled_out(words: str) -> Iterator[str]:
    """Yield every phrase that an entry of a word table stands for: "submit|place [the] order" is "submit order",
    "submit the order" and so on.
    """
    if "|" not in words and "[" not in words:
        yield words
        return
    whole, parts = words.startswith("="), words.lstrip("=").split(" ")
    choices = [[*part.strip("[]").split("|"), *([""] if part.startswith("[") else [])] for part in parts]
    between = "" if CHINESE.search(words) else " "
    for chosen in product(*choices):
        yield "=" * whole + between.join(filter(None, chosen))


def says(label: str, word: str, *, button: bool, unless: tuple[str, ...] = ()) -> bool:
    """Whether a label means the same as `word`: it equals the word or, on a button, begins with it and has few other
    words. Chinese words may be anywhere.

    `unless` are endings that make it harmless ("Order history"). A negation ("Don't allow") never matches.
    """
    word = plain(word)
    return bool(word) and any(_says(text, word, button, unless) for text in readings(label) if text)


def _says(text: str, word: str, button: bool, unless: tuple[str, ...]) -> bool:
    if text == word:
        return True
    if not button or text.startswith(NEGATIONS):
        return False
    if CHINESE.search(word):
        return (
            word in text
            and len(text) <= len(word) + MAX_EXTRA_SIGNS
            and not text.startswith(NEGATIONS_CHINESE)
            and not any(text.endswith(ending) for ending in unless)
        )
    if any(text.endswith(ending) and re.search(rf"\b{re.escape(ending)}$", text) for ending in unless):
        return False
    # Nearly no word matches a given label, so rule it out before compiling a pattern.
    few = text.startswith(word) and len(text.split()) <= len(word.split()) + MAX_EXTRA_WORDS
    return few and re.match(rf"{re.escape(word)}\b", text) is not None


def ends_with(label: str, word: str) -> bool:
    """Whether a button's label is short and ends with this verb, such as "Confirm and pay" or "Yes, delete"."""
    word = plain(word)
    return any(
        text.endswith(word)
        and not text.startswith((*NEGATIONS, "cancel "))
        and len(text.split()) <= MAX_EXTRA_WORDS
        and re.search(rf"\b{re.escape(word)}$", text) is not None
        for text in readings(label)
    )


def mentions(label: str, word: str) -> bool:
    """Whether the label contains the word, as a whole word unless it is Chinese."""
    word = plain(word)
    if CHINESE.search(word):
        return any(word in text for text in readings(label))
    return any(word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None for text in readings(label))


def id_words(resource_id: str) -> tuple[str, ...]:
    """Return the meaningful words in a resource id: "btn_send" and "sendButton" both give ("send",)."""
    tail = resource_id.rsplit("/", 1)[-1]
    parts = (part.lower() for part in _ID_PARTS.findall(tail))
    return tuple(part for part in parts if part not in _ID_FURNITURE)
