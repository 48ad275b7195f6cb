"""Recognises words about a password, PIN, code or recovery phrase, in all languages that have a table."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib import resources
from typing import Final

from agent.guards.words import JOINED, plain

_RUN: Final = re.compile(f"{JOINED.pattern}+")
_BLANKS: Final = re.compile(r"[\s\-]+")
_NOTHING: Final = re.compile(r"(?!)")


class SecretWords:
    """The words for secrets of one policy and of all language tables.

    `labels` and `unless` come from the policy: a word of `unless` before one of `labels` gives it another meaning.
    """

    def __init__(self, labels: Sequence[str], unless: Sequence[str]) -> None:
        self._labels = labels
        self._unless = unless

    def stand_in(self, text: str) -> bool:
        """Whether this text contains a word for a secret, such as "PIN code" but not "zip code"."""
        secret, harmless = self._patterns
        return secret.search(harmless.sub(" ", _apart(plain(text)))) is not None

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """The patterns for secret and harmless words, compiled on first use in a fifth of a second."""
        tables = _tables()
        plural = [f"{word}s" for word in self._labels if word.isascii()]
        other = [f"{before} {word}" for before in self._unless for word in (*self._labels, *plural)]
        return _pattern([*self._labels, *plural, *tables["secret"]]), _pattern([*other, *tables["harmless"]])


@cache
def _tables() -> dict[str, tuple[str, ...]]:
    text = resources.files("agent.guards").joinpath("secret_words.toml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {"secret": [], "harmless": []}
    for table in tomllib.loads(text).values():
        for kind, words in table.items():
            found[kind] += [word for each in words.split(",") if (word := each.strip())]
    return {kind: tuple(words) for kind, words in found.items()}


def _apart(text: str) -> str:
    """Separate words of scripts without spaces from others: PIN是多少 contains PIN."""
    return " ".join(_RUN.sub(lambda run: f" {run[0]} ", text).split())


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of the words, the longest first so that phrases match as a whole."""
    written = sorted({_written(word) for word in words if word.strip("_* ")}, key=len, reverse=True)
    return re.compile("|".join(written)) if written else _NOTHING


def _written(word: str) -> str:
    joined = JOINED.search(word) is not None
    before = r"(?<!\w)" if not joined or word.startswith("_") else ""
    after = r"(?!\w)" if not joined or word.endswith("_") else ""
    parts = [part for part in _BLANKS.split(_apart(_plain_parts(word))) if part]
    between = r"\s*" if joined else r"[\s\-]+"
    return before + between.join(_part(part) for part in parts) + after


def _plain_parts(word: str) -> str:
    """Return the word in its compared form, keeping the stars of its parts."""
    return " ".join(plain(part.rstrip("*")) + "*" * part.endswith("*") for part in word.strip("_").split())


def _part(part: str) -> str:
    stem = re.escape(part.rstrip("*"))
    return rf"{stem}\w*" if part.endswith("*") else stem
