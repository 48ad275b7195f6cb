"""Converts an observation of a phone to what a model is shown: one picture, one numbered list, one coordinate space."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.guards.masking import COVERED, without_words, without_words_of
from agent.listing import MAX_TOKENS, Listed, id_name, is_active, listed, words_of
from agent.scene import ImagePart, Screen, ScreenElement
from devices.geometry import Point, Size
from devices.phone import Element, Observation


@dataclass(frozen=True, slots=True)
class ScreenView:
    """An observation of the phone, and the screen as the model was shown it.

    `targets[i]` is the phone's element with the number i in the model's list. The observation has the words of the
    screen even where they are hidden from models: rules read them, models get `for_model`.
    """

    observation: Observation
    screen: Screen
    targets: tuple[Element, ...]
    frame: str | None = None
    """A reference to the stored picture that the model was sent."""

    @property
    def for_model(self) -> ScreenView:
        """The same view, without the words that must be hidden from models."""
        if not self.screen.covered:
            return self
        observation = without_words(self.observation)
        return replace(self, observation=observation, targets=tuple(map(without_words_of, self.targets)))

    @property
    def is_listed(self) -> bool:
        """Whether the model was shown the list of the elements. It was not if the elements arrived after the
        picture.
        """
        return bool(self.targets) or not self.screen.elements

    def native(self, point: Point) -> Point:
        """Convert a point of the sent image to the phone's own pixels."""
        return point.mapped(self.screen.space, self.observation.size)


def screen_of(
    observation: Observation, space: Size, *, covered: bool = False, tokens: int = MAX_TOKENS
) -> tuple[Screen, tuple[Element, ...]]:
    """Return the screen in the model's coordinate space, and the phone's elements behind the numbers of its list.

    `space` is the size of the model's picture. With `covered`, the words are hidden and elements are named by their ids
    as far as possible. `tokens` limits the length of the list.
    """
    jpeg = observation.jpeg
    targets: tuple[Element, ...] = ()
    lines: tuple[ScreenElement, ...] | None = None
    if observation.elements is not None:
        targets = _worth_listing(observation.elements, observation.size)
        places = listed(
            targets, observation.size, observation.other_window or observation.package, covered=covered, tokens=tokens
        )
        lines = tuple(
            _line(number, element, place, observation.size, space, covered=covered)
            for number, (element, place) in enumerate(zip(targets, places, strict=True))
        )
    focused = observation.focused_text
    return (
        Screen(
            space=space,
            image=None if jpeg is None else ImagePart(jpeg.data, "image/jpeg", jpeg.size),
            elements=lines,
            app=observation.package,
            app_name=observation.app_name,
            other_window=observation.other_window,
            keyboard_shown=observation.keyboard_shown,
            focused_text=COVERED if covered and focused else focused,
            secure=observation.secure,
            covered=covered,
        ),
        targets,
    )


def _worth_listing(elements: tuple[Element, ...], size: Size) -> tuple[Element, ...]:
    """Return the elements on the screen that have words or can be used. A container whose words a child repeats is left
    out.
    """
    seen = [e for e in elements if e.bounds.clipped(size).area and (e.label or is_active(e))]
    named = {(e.label, e.bounds.centre) for e in seen if e.label and is_active(e)}
    return tuple(e for e in seen if is_active(e) or (e.label, e.bounds.centre) not in named)


def _line(number: int, element: Element, place: Listed, size: Size, space: Size, *, covered: bool) -> ScreenElement:
    text = _covered_label(element) if covered else words_of(element)
    bounds = element.bounds.clipped(size).mapped(size, space)
    states = tuple(
        word
        for word, holds in (
            ("editable", element.editable),
            ("password", element.password),
            ("checked", element.checkable and element.checked),
            ("unchecked", element.checkable and not element.checked),
            ("focused", element.focused),
            ("selected", element.selected),
            ("scrollable", element.scrollable),
            ("disabled", not element.enabled),
        )
        if holds
    )
    return ScreenElement(
        number,
        _role(element),
        text,
        bounds.clipped(space),
        states,
        inside=place.inside,
        name="" if text else id_name(element),
        place=place.place,
    )


def _covered_label(element: Element) -> str:
    name = id_name(element)
    return " ".join(part for part in (COVERED if element.label else "", f"id:{name}" if name else "") if part)


def _role(element: Element) -> str:
    name = element.class_name.rsplit(".", 1)[-1].lower()
    if element.editable or "edittext" in name:
        return "field"
    for part, role in (
        ("switch", "switch"),
        ("seekbar", "slider"),
        ("slider", "slider"),
        ("numberpicker", "wheel"),
        ("wheel", "wheel"),
        ("checkbox", "checkbox"),
        ("radio", "radio"),
        ("button", "button"),
        ("image", "image"),
        ("webview", "page"),
    ):
        if part in name:
            return role
    if element.scrollable:
        return "list"
    return "button" if element.clickable else "text"
