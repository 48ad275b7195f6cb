"""Secrets that were typed must not be seen again, nor the apps that are never touched: not in pictures, lists,
read-backs or effects.

The values are kept in memory only: in the run that typed them they are covered in everything, and with the phone
(see agent.guards.typed) in every later task as well. What survives a restart is only where a run has seen them (ids and
labels of fields): those places stay covered for the rest of the run, whatever they hold. Where a phone draws a secret
without telling it in its elements, nobody can know its place; on such a screen the picture is left out once no elements
are told at all, in the run and in the apps that got a secret.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from PIL import Image, ImageDraw

from agent.effect_facts import Effect, with_texts
from agent.guards.typed import Place, Typed, is_among, pattern_of, place_of
from devices.geometry import Bounds, Size
from devices.jpeg import Jpeg
from devices.phone import Element, Observation
from devices.resizing import CELL
from devices.wording import Words

BULLET = "•"
COVERED = BULLET * 6
"""What stands for words that are not told."""
COVER = (120, 120, 120)
BOX_LETTERS = 3
"""A field of a row that together holds one code has no more letters than this."""


def _none(_package: str) -> bool:
    return False


class Mask:
    """Knows the secrets typed in a run, and those typed into its phone before, and covers them where they would show.

    Of an app that is `closed`, by its package, nothing is shown at all.
    """

    def __init__(self, closed: Callable[[str], bool] = _none) -> None:
        self._closed = closed
        self._typed = Typed()
        self._package = ""
        """The app that was seen last."""
        self._values: dict[str, re.Pattern[str]] = {}
        self._places: list[Place] = []
        self._restored: list[Place] = []
        self._readable: list[str] = []
        self._forbids: set[str] = set()
        """Apps that were seen to forbid pictures."""

    @property
    def places(self) -> list[Place]:
        """Where secrets were seen so far: for the state, to be handed to `restore` after a restart."""
        return [list(place) for place in (*self._restored, *self._places)]

    @property
    def readable(self) -> list[str]:
        """The apps that forbid pictures and whose words a person lets be told: for the state, to be handed to
        `let_read` after a restart.
        """
        return list(self._readable)

    def let_read(self, packages: Iterable[str]) -> None:
        """A person lets the words of these apps be told, though they forbid pictures."""
        self._readable += [package for package in packages if package not in self._readable]

    def covers_words(self, seen: Observation) -> bool:
        """Whether the words of this screen are for nobody but the rules: its app forbids pictures, and no person has
        let them be told.
        """
        return seen.secure and seen.package not in self._readable

    def to_tell(self, seen: Observation) -> Observation:
        """The observation with what may be told of it."""
        return without_words(seen) if self.covers_words(seen) else seen

    def on(self, typed: Typed) -> None:
        """The run has its phone, into which this was typed before."""
        self._typed = typed

    def add(self, value: str, package: str = "", *, once: bool = False) -> None:
        """From now on this value is covered: it is typed in this app, and good for `once`."""
        self._typed.add(value, package, once=once)
        if (pattern := pattern_of(value)) is not None:
            self._values[value] = pattern

    def restore(self, places: Iterable[Place]) -> None:
        """Cover these places, whatever they hold: an earlier process knew what, this one does not."""
        for place in [list(place) for place in places if list(place) not in self.places]:
            self._restored.append(place)
            self._typed.add_field(place)

    def cover_field(self, package: str, field: Element) -> None:
        """The field that a secret goes into is covered from now on."""
        self._remember([place_of(package, field)])
        self._typed.add_field(place_of(package, field))

    def _remember(self, places: Iterable[Place]) -> None:
        self._places.extend(place for place in places if place not in self._places)

    def may_show(self, package: str) -> bool:
        """Whether a secret may stand on any screen of this app, where its elements do not tell it too."""
        return bool(self._values or self._places or self._restored) or self._typed.was_in(package)

    def needs_rest(self, package: str) -> bool:
        """Whether no moving screen of this app may go out: picture and elements may be a moment apart, and what covers
        the one may not fit the other.
        """
        return package in self._forbids or self.may_show(package)

    @property
    def covers_nothing(self) -> bool:
        """Whether no secret was given in the run, and none that is still covered was typed into its phone before: then
        a picture needs no elements to be covered by.
        """
        return not (self._values or self._places or self._restored) and self._typed.empty

    def text(self, text: str) -> str:
        """The text with every secret in it replaced by bullets."""
        for pattern in self._patterns():
            text = pattern.sub(COVERED, text)
        return text

    def _patterns(self) -> list[re.Pattern[str]]:
        """All of the run, and what was typed before as far as it counts in the app that was seen last."""
        return [*self._values.values(), *self._typed.patterns(self._package)]

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

    def sentence(self, text: str) -> str:
        """The text without secrets; a sentence of ours stays one, with values that have none."""
        if not isinstance(text, Words):
            return self.text(text)
        covered = text.with_texts(self.sentence)
        return covered if self.text(covered) == covered else self.text(covered)

    def effects(self, effects: Iterable[Effect]) -> tuple[Effect, ...]:
        """What came of a step with every secret in it replaced."""
        return tuple(with_texts(effect, self._row) for effect in effects)

    def _row(self, words: Sequence[str]) -> list[str]:
        """Words that stand beside each other: a secret may stand in one of them, or sign by sign in several."""
        covered = [self.text(word) for word in words]
        ends = list(accumulate(len(word) + 1 for word in covered))
        holding = {
            place
            for pattern in self._patterns()
            for found in pattern.finditer(" ".join(covered))
            for place in range(bisect_right(ends, found.start()), bisect_left(ends, found.end()) + 1)
        }
        return [COVERED if place in holding else word for place, word in enumerate(covered)]

    def observation(self, seen: Observation) -> Observation:
        """The observation with secrets gone from the elements, and their places painted over in the picture."""
        if self._closed(seen.package):
            return replace(seen.without_picture(), thumbnail=None, elements=(), focused_text=None, secure=True)
        if seen.secure:
            self._forbids.add(seen.package)
        self._package = seen.package
        if not (self.may_show(seen.package) or self._patterns()):
            return seen
        focused = None if seen.focused_text is None else self.text(seen.focused_text)
        if seen.elements is None and not self.may_show(seen.package):
            return seen if focused == seen.focused_text else replace(seen, focused_text=focused)
        if seen.elements is None:
            # Nobody can tell where the secret stands: better no picture than a secret in it.
            return replace(seen.without_picture(), thumbnail=None, focused_text=None if focused is None else COVERED)
        self._typed.seen(seen.package, seen.elements)
        showing = self._showing(seen.elements)
        self._remember(place_of(seen.package, e) for e in showing.values() if e.editable or e.resource_id)
        whole = {id(e): e for e in seen.elements if e.label and self._is_place(seen.package, e)}
        hidden = showing | whole
        if not hidden and focused == seen.focused_text:
            return seen
        if focused is not None and any(e.focused for e in hidden.values()):
            focused = COVERED
        areas = [area for e in hidden.values() if (area := e.bounds.clipped(seen.size)).area]
        image = None if seen.image is None else _painted(seen.image, areas, COVER)
        jpeg = None if seen.jpeg is None else _painted_over(seen.jpeg, areas, seen.size)
        thumbnail = None if seen.thumbnail is None else _painted(seen.thumbnail, areas, COVER[0], cell=CELL)
        elements = tuple(
            self._covered(e, whole=id(e) in whole or e.editable) if id(e) in hidden else e for e in seen.elements
        )
        return replace(seen, image=image, jpeg=jpeg, thumbnail=thumbnail, elements=elements, focused_text=focused)

    def _is_place(self, package: str, element: Element) -> bool:
        """A field that got a secret; after a restart also what else had shown it."""
        place = place_of(package, element)
        if is_among(place, self._restored):
            return True
        return element.editable and (is_among(place, self._places) or self._typed.holds(place))

    def _showing(self, elements: tuple[Element, ...]) -> dict[int, Element]:
        """The elements in which a secret stands, whole or sign by sign in a row of boxes."""
        patterns = self._patterns()
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


def without_words(seen: Observation) -> Observation:
    """The observation of an app that forbids pictures, with its elements and bullets for their words."""
    elements = None if seen.elements is None else tuple(map(without_words_of, seen.elements))
    return replace(seen, elements=elements, focused_text=COVERED if seen.focused_text else seen.focused_text)


def without_words_of(element: Element) -> Element:
    """The element with bullets for its words."""
    text, description, hint = (COVERED if each else "" for each in (element.text, element.description, element.hint))
    return replace(element, text=text, description=description, hint=hint)


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
