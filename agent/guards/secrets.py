"""Passwords, PINs and codes: recognises words about them in all languages that have a table, and remembers in memory
which were typed into a phone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final

from agent.guards.words import JOINED, listed, plain
from devices.phone import Element
from devices.wording import table_of

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
    languages = table_of("agent.guards", "secret_words.toml").values()
    return {
        kind: tuple(word for table in languages for word in listed(table.get(kind, "")))
        for kind in ("secret", "harmless")
    }


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


BETWEEN = r"[\W_]{0,4}"
"""Separators that apps and effect lines put inside a code: "246 810", "2-4-6", "'2', '4'"."""
SHORTEST = 3
"""The minimum letters of a secret that is searched in texts. A shorter one is only covered in its field."""
EVERYWHERE = 6
"""A secret with at least this many letters is covered in every app. A shorter one is only covered in the app where it
was typed; otherwise each "2026" would vanish.
"""
ONE_TIME_S = 600.0
"""Seconds after which a one-time code is no longer covered."""

Place = list[str]
"""Where a secret was seen, as plain data: package, resource id, class and hint."""


def place_of(package: str, element: Element) -> Place:
    """Return what identifies a field later, without its words, which may be the secret."""
    if not element.editable:
        return [package, element.resource_id, element.class_name, ""]
    place = [package, element.resource_id, element.class_name, element.hint]
    if not (element.resource_id or element.hint):
        place.append(f"{element.bounds.left},{element.bounds.top}")
    return place


def is_among(place: Place, places: Iterable[Place]) -> bool:
    """Whether `places` contain this place.

    A field with an id also matches if only one of the observations reported its hint, because plain `uiautomator dump`
    reports none.
    """
    return any(
        place == other or (bool(place[1]) and place[:3] == other[:3] and bool(place[3]) != bool(other[3]))
        for other in places
    )


def pattern_of(value: str) -> re.Pattern[str] | None:
    """Return a pattern that finds a secret in texts even with separators in it; None if it is too short to be
    searched.
    """
    signs = [re.escape(sign) for sign in value if sign.isalnum()]
    if len(signs) >= SHORTEST:
        # The literal value first, so that punctuation at its ends is included.
        return re.compile(f"{re.escape(value)}|{BETWEEN.join(signs)}", re.IGNORECASE)
    return re.compile(re.escape(value)) if len(value) >= SHORTEST else None


@dataclass
class _Value:
    pattern: re.Pattern[str] | None
    everywhere: bool
    until: float | None
    """When it expires by the clock; None for as long as the service runs."""
    packages: set[str] = field(default_factory=set)


class Typed:
    """The secrets typed into one phone, by any task for any person, and the fields that contain them.

    Fields stay covered until they are seen empty.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._values: dict[str, _Value] = {}
        self._fields: list[Place] = []

    def __repr__(self) -> str:
        return f"<{len(self._values)} typed secrets>"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to cover any more."""
        return not (self._fields or self._living())

    def add(self, value: str, package: str, *, once: bool) -> None:
        """Remember a secret that was typed in this app; `once` marks a one-time code."""
        until = self._clock() + ONE_TIME_S if once else None
        known = self._values.setdefault(value, _Value(pattern_of(value), len(value) >= EVERYWHERE, until))
        known.packages.add(package)
        known.until = None if known.until is None or until is None else max(known.until, until)

    def add_field(self, place: Place) -> None:
        """Remember that this field contains a secret."""
        if place not in self._fields:
            self._fields.append(place)

    def patterns(self, package: str) -> list[re.Pattern[str]]:
        """Return the patterns of the secrets that must be covered while this app is in front."""
        return [
            one.pattern
            for one in self._living()
            if one.pattern is not None and (one.everywhere or package in one.packages)
        ]

    def was_in(self, package: str) -> bool:
        """Whether a secret that is still covered was typed into this app."""
        return any(package in one.packages for one in self._living()) or any(at[0] == package for at in self._fields)

    def holds(self, place: Place) -> bool:
        """Whether the field at this place may contain a secret."""
        return is_among(place, self._fields)

    def seen(self, package: str, elements: Iterable[Element]) -> None:
        """Forget the fields of this app that are now empty."""
        if self._fields:
            empty = [place_of(package, e) for e in elements if e.editable and e.text in {"", e.hint}]
            self._fields = [place for place in self._fields if place not in empty]

    def _living(self) -> list[_Value]:
        now = self._clock()
        self._values = {value: one for value, one in self._values.items() if one.until is None or one.until > now}
        return list(self._values.values())
