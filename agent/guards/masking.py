"""Covers typed secrets and the content of forbidden apps, in pictures, element lists, texts read from the screen and
effects.

The values of secrets are kept in memory only. The run that typed them covers them everywhere; on their phone (see
agent.guards.secrets), they are covered in every later task too. After a restart, a run only knows the places where it
has seen them (ids and labels of fields). These stay covered for the rest of the run, whatever they contain. If a phone
draws a secret without reporting it among its elements, its place is unknown. The picture of such a screen is left out
once no elements are reported at all, in that run and in apps that received a secret.
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
from agent.guards.secrets import Place, Typed, is_among, pattern_of, place_of
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation
from devices.pictures import CELL, Jpeg
from devices.wording import Words

BULLET = "•"
COVERED = BULLET * 6
"""The text that replaces covered words."""
COVER = (120, 120, 120)
BOX_LETTERS = 3
"""The maximum number of letters in one field of a row of fields that together hold a code."""


class Mask:
    """Covers secrets wherever they would appear: those that a run typed, and those typed into its phone before.

    If `closed` returns true for the package of an app, nothing at all is shown of it.
    """

    def __init__(self, closed: Callable[[str], bool] = lambda _: False) -> None:
        self._closed = closed
        self._typed = Typed()
        self._package = ""
        """The app that was seen last."""
        self._values: dict[str, re.Pattern[str]] = {}
        self._places: list[Place] = []
        self._restored: list[Place] = []
        self._readable: list[str] = []
        self._forbids: set[str] = set()
        """Apps that were seen to forbid screenshots."""

    @property
    def places(self) -> list[Place]:
        """The places where secrets were seen, to be stored in the state and passed to `restore` after a restart."""
        return [list(place) for place in (*self._restored, *self._places)]

    @property
    def readable(self) -> list[str]:
        """The apps that forbid screenshots but whose words a person allows models to read; stored in the state and
        passed to `let_read` after a restart.
        """
        return list(self._readable)

    def let_read(self, packages: Iterable[str]) -> None:
        """Allow models to read the words of these apps although they forbid screenshots, as a person decided."""
        self._readable += [package for package in packages if package not in self._readable]

    def covers_words(self, observation: Observation) -> bool:
        """Whether the words of this screen must be hidden from models. This is so if its app forbids screenshots and no
        person has allowed models to read its words.
        """
        return observation.secure and observation.package not in self._readable

    def to_tell(self, observation: Observation) -> Observation:
        """Return the observation with all words covered if models may not read them; otherwise unchanged."""
        return without_words(observation) if self.covers_words(observation) else observation

    def on(self, typed: Typed) -> None:
        """Set the secrets that were typed into the run's phone before. Call this once the run has its phone."""
        self._typed = typed

    def add(self, value: str, package: str = "", *, once: bool = False) -> None:
        """Cover this value from now on. `package` is the app that it is typed into, and `once` marks a
        one-time code.
        """
        self._typed.add(value, package, once=once)
        if (pattern := pattern_of(value)) is not None:
            self._values[value] = pattern

    def restore(self, places: Iterable[Place]) -> None:
        """Cover whatever is in these places, because only an earlier process knew the values there."""
        for place in [list(place) for place in places if list(place) not in self.places]:
            self._restored.append(place)
            self._typed.add_field(place)

    def cover_field(self, package: str, field: Element) -> None:
        """Cover this field from now on, because a secret is typed into it."""
        self._remember([place_of(package, field)])
        self._typed.add_field(place_of(package, field))

    def _remember(self, places: Iterable[Place]) -> None:
        self._places.extend(place for place in places if place not in self._places)

    def may_show(self, package: str) -> bool:
        """Whether a screen of this app may show a secret without reporting it among its elements."""
        return bool(self._values or self._places or self._restored) or self._typed.was_in(package)

    def needs_rest(self, package: str) -> bool:
        """Whether a picture of this app may only be sent once the screen stops moving. Until then, picture and elements
        may differ, so that the wrong place would be covered.
        """
        return package in self._forbids or self.may_show(package)

    @property
    def covers_nothing(self) -> bool:
        """Whether there is no secret to cover, neither of this run nor from before on its phone. Pictures can then be
        sent without knowing the elements.
        """
        return not (self._values or self._places or self._restored) and self._typed.empty

    def text(self, text: str) -> str:
        """Return the text with every secret replaced by bullets."""
        for pattern in self._patterns():
            text = pattern.sub(COVERED, text)
        return text

    def _patterns(self) -> list[re.Pattern[str]]:
        """Return the run's secrets, and those typed before that apply to the app seen last."""
        return [*self._values.values(), *self._typed.patterns(self._package)]

    def cover_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of plain data with the secrets in its texts and keys replaced by bullets, at any depth."""
        return {self.text(name): self._cover_value(value) for name, value in data.items()}

    def _cover_value(self, value: Any) -> Any:  # noqa: ANN401 - any plain data
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self.cover_data(value)
        if isinstance(value, list | tuple):
            return [self._cover_value(each) for each in value]
        return value

    def sentence(self, text: str) -> str:
        """Return the text with secrets replaced by bullets. A translatable sentence stays one if only its values
        contained secrets.
        """
        if not isinstance(text, Words):
            return self.text(text)
        covered = text.with_texts(self.sentence)
        return covered if self.text(covered) == covered else self.text(covered)

    def effects(self, effects: Iterable[Effect]) -> tuple[Effect, ...]:
        """Return the effects of a step with every secret replaced by bullets."""
        return tuple(with_texts(effect, self._row) for effect in effects)

    def _row(self, words: Sequence[str]) -> list[str]:
        """Cover a secret in a row of words, in which it may be one word or split across several."""
        covered = [self.text(word) for word in words]
        ends = list(accumulate(len(word) + 1 for word in covered))
        holding = {
            place
            for pattern in self._patterns()
            for found in pattern.finditer(" ".join(covered))
            for place in range(bisect_right(ends, found.start()), bisect_left(ends, found.end()) + 1)
        }
        return [COVERED if place in holding else word for place, word in enumerate(covered)]

    def observation(self, observation: Observation) -> Observation:
        """Return the observation with secrets removed from the elements and painted over in the picture."""
        if self._closed(observation.package):
            return replace(observation.without_picture(), thumbnail=None, elements=(), focused_text=None, secure=True)
        if observation.secure:
            self._forbids.add(observation.package)
        self._package = observation.package
        if not (self.may_show(observation.package) or self._patterns()):
            return observation
        focused = None if observation.focused_text is None else self.text(observation.focused_text)
        if observation.elements is None and not self.may_show(observation.package):
            return observation if focused == observation.focused_text else replace(observation, focused_text=focused)
        if observation.elements is None:
            # The place of the secret is unknown: better no picture than one that shows it.
            return replace(
                observation.without_picture(), thumbnail=None, focused_text=None if focused is None else COVERED
            )
        self._typed.seen(observation.package, observation.elements)
        showing = self._showing(observation.elements)
        self._remember(place_of(observation.package, e) for e in showing.values() if e.editable or e.resource_id)
        whole = {id(e): e for e in observation.elements if e.label and self._is_place(observation.package, e)}
        hidden = showing | whole
        if not hidden and focused == observation.focused_text:
            return observation
        if focused is not None and any(e.focused for e in hidden.values()):
            focused = COVERED
        areas = [area for e in hidden.values() if (area := e.bounds.clipped(observation.size)).area]
        image = None if observation.image is None else _painted(observation.image, areas, COVER)
        jpeg = None if observation.jpeg is None else _painted_over(observation.jpeg, areas, observation.size)
        thumbnail = (
            None if observation.thumbnail is None else _painted(observation.thumbnail, areas, COVER[0], cell=CELL)
        )
        elements = tuple(
            self._covered(e, whole=id(e) in whole or e.editable) if id(e) in hidden else e for e in observation.elements
        )
        return replace(
            observation, image=image, jpeg=jpeg, thumbnail=thumbnail, elements=elements, focused_text=focused
        )

    def _is_place(self, package: str, element: Element) -> bool:
        """Whether the element is a field that received a secret or, after a restart, another element that
        showed one.
        """
        place = place_of(package, element)
        if is_among(place, self._restored):
            return True
        return element.editable and (is_among(place, self._places) or self._typed.holds(place))

    def _showing(self, elements: tuple[Element, ...]) -> dict[int, Element]:
        """Return the elements that show a secret, as a whole or character by character in a row of boxes."""
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
        """Return the element with bullets for its words; a field keeps its name so that it can be referred to."""
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


def without_words(observation: Observation) -> Observation:
    """Return the observation with all words of its elements replaced by bullets."""
    elements = None if observation.elements is None else tuple(map(without_words_of, observation.elements))
    return replace(
        observation, elements=elements, focused_text=COVERED if observation.focused_text else observation.focused_text
    )


def without_words_of(element: Element) -> Element:
    """Return the element with bullets for its words."""
    text, description, hint = (COVERED if each else "" for each in (element.text, element.description, element.hint))
    return replace(element, text=text, description=description, hint=hint)


def _painted(
    image: Image.Image, areas: Iterable[Bounds], colour: int | tuple[int, int, int], *, cell: int = 1
) -> Image.Image:
    """Return a copy of the image with these areas painted over; one of its pixels is `cell` pixels of the screen."""
    painted = image.copy()
    draw = ImageDraw.Draw(painted)
    for area in areas:
        right, bottom = (area.right - 1) // cell, (area.bottom - 1) // cell
        draw.rectangle((area.left // cell, area.top // cell, right, bottom), fill=colour)
    return painted


def _painted_over(jpeg: Jpeg, areas: list[Bounds], screen: Size) -> Jpeg:
    """Return the JPEG with these screen areas painted over; unchanged if there are none."""
    if not areas:
        return jpeg
    # JPEG compression spreads into neighbouring pixels: cover one more block on each side.
    there = [area.mapped(screen, jpeg.size).wider(CELL) for area in areas]
    return Jpeg.of(_painted(jpeg.image(), [area.clipped(jpeg.size) for area in there], COVER), jpeg.size)
