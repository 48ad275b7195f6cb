"""What a touch really reaches: the element meant, what lies under the finger, and the words that belong to it."""

from __future__ import annotations

from dataclasses import dataclass

from devices.geometry import Bounds, Point
from devices.phone import Element

LARGE_SHARE = 0.25
"""A container of more than this share of the screen is a page, no button: its words are not the button's."""


@dataclass(frozen=True, slots=True)
class Spot:
    """What an action meets: the app, the element that is touched or typed into, and all that can be seen.

    `point` is the native pixel of the touch, `end` the one where a moving finger leaves the screen.
    """

    package: str
    target: Element | None = None
    around: tuple[Element, ...] = ()
    point: Point | None = None
    end: Point | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """A label under the finger. `button` says that all of it is the button's own caption."""

    element: Element
    label: str
    button: bool


def is_button(element: Element) -> bool:
    """Whether the element itself takes the touch."""
    return element.clickable or element.long_clickable or "button" in element.class_name.lower()


def holds(bounds: Bounds, point: Point) -> bool:
    """Whether the point lies inside."""
    return bounds.left <= point.x < bounds.right and bounds.top <= point.y < bounds.bottom


def words_under(spot: Spot) -> tuple[Words, ...]:
    """Every label that a touch may set off.

    The button under the finger counts even where the model has named something else; so do the words in a button
    that has none of its own.
    """
    target, point, around = spot.target, spot.point, spot.around
    found: dict[tuple[int, str], Words] = {}

    def add(element: Element, *, button: bool) -> None:
        for label in (element.text, element.description, element.hint):
            if label:
                found.setdefault((id(element), label), Words(element, label, button))

    if target is not None:
        add(target, button=is_button(target))
    if point is None and target is not None:
        point = target.bounds.centre
    if point is None:
        return tuple(found.values())
    whole = max((e.bounds.area for e in around), default=0)
    under = [e for e in around if holds(e.bounds, point) and e.bounds.area <= whole * LARGE_SHARE]
    holder = min((e for e in under if is_button(e)), key=lambda e: e.bounds.area, default=None)
    if holder is not None:
        add(holder, button=True)
        inside = [e for e in around if e.label and e is not holder and not is_button(e) and _within(e, holder)]
        for element in inside:
            add(element, button=len(inside) == 1 and not holder.label)
    for element in under:
        add(element, button=is_button(element))
    return tuple(found.values())


def beside(field: Element, button: Element) -> bool:
    """Whether a button stands in the same row as a field."""
    return min(field.bounds.bottom, button.bounds.bottom) > max(field.bounds.top, button.bounds.top)


def _within(inner: Element, outer: Element) -> bool:
    return holds(outer.bounds, inner.bounds.centre) and inner.bounds.area <= outer.bounds.area
