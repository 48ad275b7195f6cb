"""Secrets that were typed must not be seen again, nor the apps that are never touched: not in pictures, lists,
read-backs or effects.

The values are kept in memory for the run. What survives a restart is only where they were seen (ids and labels of
fields): those places stay covered for the rest of the run, whatever they hold. Where a phone draws a secret without
telling it in its elements, nobody can know its place; on such a screen the picture is left out once no elements are
told at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from PIL import Image, ImageDraw

from devices.geometry import Bounds, Size
from devices.jpeg import Jpeg
from devices.phone import Element, Observation
from devices.small import CELL

BULLET = "•"
COVERED = BULLET * 6
COVER = (120, 120, 120)
BETWEEN = r"[\W_]{0,4}"
"""Signs that apps and effect lines put between the signs of a code: "246 810", "2-4-6", "'2', '4'"."""
SHORTEST = 3
"""Letters of a secret that is looked for in any text; a shorter one is covered in its own field only."""
BOX_LETTERS = 3
"""A field of a row that together holds one code has no more letters than this."""

Place = list[str]
"""Where a secret was seen, as plain data: package, resource id, class, and hint."""


def _none(_package: str) -> bool:
    return False


class Mask:
    """Knows the secrets typed in a run and covers them wherever they would show.

    Of an app that is `closed`, by its package, nothing is shown at all.
    """

    def __init__(self, closed: Callable[[str], bool] = _none) -> None:
        self._closed = closed
        self._values: dict[str, re.Pattern[str]] = {}
        self._places: list[Place] = []
        self._restored: list[Place] = []

    @property
    def places(self) -> list[Place]:
        """Where secrets were seen so far: for the state, to be handed to `restore` after a restart."""
        return [list(place) for place in (*self._restored, *self._places)]

    def add(self, value: str) -> None:
        """From now on this value is covered."""
        signs = [re.escape(sign) for sign in value if sign.isalnum()]
        if len(signs) >= SHORTEST:
            # The value as it is first, so that signs at its ends go with it.
            self._values[value] = re.compile(f"{re.escape(value)}|{BETWEEN.join(signs)}", re.IGNORECASE)
        elif len(value) >= SHORTEST:
            self._values[value] = re.compile(re.escape(value))

    def restore(self, places: Iterable[Place]) -> None:
        """Cover these places, whatever they hold: an earlier process knew what, this one does not."""
        self._restored.extend(list(place) for place in places if list(place) not in self.places)

    def cover_field(self, package: str, field: Element) -> None:
        """The field that a secret goes into is covered from now on."""
        self._remember([_place(package, field)])

    def _remember(self, places: Iterable[Place]) -> None:
        self._places.extend(place for place in places if place not in self._places)

    def text(self, text: str) -> str:
        """The text with every secret in it replaced by bullets."""
        for pattern in self._values.values():
            text = pattern.sub(COVERED, text)
        return text

    def told(self, data: dict[str, Any]) -> dict[str, Any]:
        """Plain data with every secret in its texts replaced."""
        covered: dict[str, Any] = {}
        for name, value in data.items():
            if isinstance(value, str):
                covered[name] = self.text(value)
            elif isinstance(value, dict):
                covered[name] = self.told(value)
            elif isinstance(value, list):
                covered[name] = [self.text(each) if isinstance(each, str) else each for each in value]
            else:
                covered[name] = value
        return covered

    def observation(self, seen: Observation) -> Observation:
        """The observation with secrets gone from the elements, and their places painted over in the picture."""
        if self._closed(seen.package):
            return replace(seen.without_picture(), small=None, elements=(), focused_text=None, secure=True)
        if not (self._values or self._places or self._restored):
            return seen
        focused = None if seen.focused_text is None else self.text(seen.focused_text)
        if seen.elements is None:
            # Nobody can tell where the secret stands: better no picture than a secret in it.
            return replace(seen.without_picture(), small=None, focused_text=None if focused is None else COVERED)
        showing = self._showing(seen.elements)
        self._remember(_place(seen.package, e) for e in showing.values() if e.editable or e.resource_id)
        whole = {id(e): e for e in seen.elements if e.label and self._is_place(seen.package, e)}
        hidden = showing | whole
        if focused is not None and any(e.focused for e in hidden.values()):
            focused = COVERED
        areas = [area for e in hidden.values() if (area := e.bounds.clipped(seen.size)).area]
        image = None if seen.image is None else _painted(seen.image, areas, COVER)
        jpeg = None if seen.jpeg is None else _painted_over(seen.jpeg, areas, seen.size)
        small = None if seen.small is None else _painted(seen.small, areas, COVER[0], cell=CELL)
        elements = tuple(
            self._covered(e, whole=id(e) in whole or e.editable) if id(e) in hidden else e for e in seen.elements
        )
        return replace(seen, image=image, jpeg=jpeg, small=small, elements=elements, focused_text=focused)

    def _is_place(self, package: str, element: Element) -> bool:
        """A field that got a secret; after a restart also what else had shown it."""
        place = _place(package, element)
        return place in self._restored or (element.editable and place in self._places)

    def _showing(self, elements: tuple[Element, ...]) -> dict[int, Element]:
        """The elements in which a secret stands, whole or sign by sign in a row of boxes."""
        patterns = list(self._values.values())
        shown = {
            id(e): e
            for e in elements
            for words in (e.text, e.description, e.hint)
            if words and any(pattern.search(words) for pattern in patterns)
        }
        boxes = [e for e in elements if 0 < len(e.text.strip()) <= BOX_LETTERS and (e.editable or not e.clickable)]
        joined = "".join(e.text.strip() for e in boxes)
        owners = [e for e in boxes for _ in e.text.strip()]
        for pattern in patterns:
            for match in pattern.finditer(joined):
                shown |= {id(e): e for e in owners[match.start() : match.end()]}
        return shown

    def _covered(self, element: Element, *, whole: bool) -> Element:
        """The element with bullets for its words; the name of a field stays, so that it can be spoken of."""
        if element.editable:
            text = COVERED if element.text and element.text != element.hint else element.text
            description, hint = self.text(element.description), self.text(element.hint)
            return replace(element, text=text, description=description, hint=hint)
        return replace(
            element,
            text=self._bullets(element.text, whole=whole),
            description=self._bullets(element.description, whole=whole),
            hint=self._bullets(element.hint, whole=whole),
        )

    def _bullets(self, words: str, *, whole: bool) -> str:
        covered = self.text(words)
        # A box that holds a sign or two of a code says nothing else; a longer text keeps its other words.
        return COVERED if words and (whole or (covered == words and len(words) <= BOX_LETTERS)) else covered


def _painted(
    image: Image.Image, areas: Iterable[Bounds], colour: int | tuple[int, int, int], *, cell: int = 1
) -> Image.Image:
    """A copy with these areas painted over; `cell` pixels of the screen are one of it."""
    painted = image.copy()
    draw = ImageDraw.Draw(painted)
    for area in areas:
        right, bottom = (area.right - 1) // cell, (area.bottom - 1) // cell
        draw.rectangle((area.left // cell, area.top // cell, right, bottom), fill=colour)
    return painted


def _painted_over(jpeg: Jpeg, areas: list[Bounds], screen: Size) -> Jpeg:
    """The same of a picture of this screen in another size; where there is nothing to paint it stays as it is."""
    if not areas:
        return jpeg
    # What is compressed runs over into the next pixels: a block more on each side.
    there = [_wider(area.mapped(screen, jpeg.size)) for area in areas]
    return Jpeg.of(_painted(jpeg.image(), [area.clipped(jpeg.size) for area in there], COVER), jpeg.size)


def _wider(area: Bounds) -> Bounds:
    return Bounds(area.left - CELL, area.top - CELL, area.right + CELL, area.bottom + CELL)


def _place(package: str, element: Element) -> Place:
    """What identifies it without its words: those may be the secret."""
    if not element.editable:
        return [package, element.resource_id, element.class_name, ""]
    place = [package, element.resource_id, element.class_name, element.hint]
    if not (element.resource_id or element.hint):
        place.append(f"{element.bounds.left},{element.bounds.top}")
    return place
