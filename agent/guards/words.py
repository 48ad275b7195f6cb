"""How the words of a button are read: whole words, any case, English at the ends and Chinese anywhere."""

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
"""Scripts in which a word is looked for inside longer ones: they write no blanks, or tie small words to others."""
MAX_EXTRA_WORDS = 4
"""Words that a button has besides the one that matters: "Send to Anna Maria Smith" has four. More is a sentence."""
MAX_EXTRA_SIGNS = 8
"""The same for Chinese, in signs."""
NEGATIONS = ("don't ", "do not ", "never ", "not ", "no, ", "how to ", "why ", "when ")
NEGATIONS_CHINESE = ("不", "拒绝", "禁止", "取消", "如何", "怎么", "暂不")
_BEFORE = re.compile(r"\A[\W_]+(?=[\w$€£¥])")
_KEPT_AT_THE_END = re.compile(r"[\w?!%)]")
_ID_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
KEPT_WORDS = 2048
"""Labels whose plain form is kept: the words of all rules, and those of a few screens."""
_ID_FURNITURE = {"btn", "button", "fab", "ic", "icon", "action", "menu", "view"}


@lru_cache(KEPT_WORDS)  # each label of a screen is held against each word of each rule
def plain(label: str) -> str:
    """The label as it is compared: folded, arrows and dots at its ends gone."""
    return _trimmed(folded(label))


@lru_cache(KEPT_WORDS)
def readings(label: str) -> tuple[str, ...]:
    """The label as it is compared, and in what other ways a person may read it where it is written in disguise."""
    return tuple(dict.fromkeys((plain(label), *map(_trimmed, disguises(label)))))


def _trimmed(words: str) -> str:
    if words and not words[0].isalnum():
        words = _BEFORE.sub("", words, count=1)
    end = len(words)
    while end and not _KEPT_AT_THE_END.match(words[end - 1]):
        end -= 1
    return words[:end]


def spelled_out(words: str) -> Iterator[str]:
    """All that words of a table mean: "submit|place [the] order" is "submit order", "submit the order" and so on."""
    if "|" not in words and "[" not in words:
        yield words
        return
    whole, parts = words.startswith("="), words.lstrip("=").split(" ")
    choices = [[*part.strip("[]").split("|"), *([""] if part.startswith("[") else [])] for part in parts]
    between = "" if CHINESE.search(words) else " "
    for chosen in product(*choices):
        yield "=" * whole + between.join(filter(None, chosen))


def says(label: str, word: str, *, button: bool, unless: tuple[str, ...] = ()) -> bool:
    """Whether a label means this: it is the word; or, on a button, begins or ends with it in few words.

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
    # Nearly every word is none of this label: told apart before anything is compiled.
    few = text.startswith(word) and len(text.split()) <= len(word.split()) + MAX_EXTRA_WORDS
    return few and re.match(rf"{re.escape(word)}\b", text) is not None


def ends_with(label: str, word: str) -> bool:
    """Whether a button ends with a verb: "Confirm and pay", "Yes, delete"."""
    word = plain(word)
    return any(
        text.endswith(word)
        and not text.startswith((*NEGATIONS, "cancel "))
        and len(text.split()) <= MAX_EXTRA_WORDS
        and re.search(rf"\b{re.escape(word)}$", text) is not None
        for text in readings(label)
    )


def mentions(label: str, word: str) -> bool:
    """Whether the word stands anywhere in the label, as a whole word."""
    word = plain(word)
    if CHINESE.search(word):
        return any(word in text for text in readings(label))
    return any(word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None for text in readings(label))


def id_words(resource_id: str) -> tuple[str, ...]:
    """What an id calls its element, without what every button's id has: "btn_send" and "sendButton" say "send"."""
    tail = resource_id.rsplit("/", 1)[-1]
    parts = (part.lower() for part in _ID_PARTS.findall(tail))
    return tuple(part for part in parts if part not in _ID_FURNITURE)
