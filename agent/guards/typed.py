"""Remembers the secrets that were typed into one phone, so that no later task shows them. They are in memory only."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from devices.phone import Element

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
