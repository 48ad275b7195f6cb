"""Determines what a touch reaches: the intended element, what lies under the finger, and the words that
belong to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from devices.geometry import Point, Size
from devices.phone import Element

LARGE_SHARE = 0.25
"""A container larger than this share of the screen counts as a page; its words are not a button's caption."""
ROWS = 3
"""How many similar elements below each other make a list."""
MIN_ROW = 16
"""The minimum height of a row in pixels, on any screen."""
_COUNT = re.compile(r"\d")
_STATES = ("Switch", "SwitchCompat", "CheckBox", "RadioButton", "ToggleButton")


@dataclass(frozen=True, slots=True)
class TouchTarget:
    """What an action touches on the screen.

    `package` is the app, `target` the element that is touched or typed into, and `around` are all visible elements.
    `point` is the touched point in the phone's own pixels, and `end` is where a moving finger leaves the screen.
    `activity` is the one in front and `size` the screen's, if known. `keyboard` says whether a keyboard is shown.
    """

    package: str
    target: Element | None = None
    around: tuple[Element, ...] = ()
    point: Point | None = None
    end: Point | None = None
    activity: str = ""
    size: Size | None = None
    keyboard: bool = False

    @property
    def has_place(self) -> bool:
        """Whether the action has a place on the screen."""
        return self.target is not None or self.point is not None

    @property
    def area(self) -> int:
        """The area of the screen in square pixels; if its size is unknown, that of the largest element."""
        if self.size is not None:
            return self.size.width * self.size.height
        return max((e.bounds.area for e in self.around), default=0)

    @property
    def finger(self) -> Point | None:
        """Where the finger lands: the touched point, otherwise the centre of the target."""
        return self.point or (self.target.bounds.centre if self.target is not None else None)

    @property
    def under(self) -> list[Element]:
        """The elements under the finger that are not pages."""
        point = self.finger
        return [] if point is None else [e for e in self.around if e.bounds.holds(point) and self.has_small(e)]

    @property
    def focused_field(self) -> Element | None:
        """The text field that has the focus, if any."""
        return next((e for e in self.around if e.focused and e.editable), None)

    def has_small(self, element: Element) -> bool:
        """Whether the element is small enough on this screen not to be a page."""
        return element.bounds.area <= LARGE_SHARE * self.area


@dataclass(frozen=True, slots=True)
class Words:
    """A label under the finger.

    `button` means that the label is the button's complete caption. `row` means that it is the whole text of a list row;
    rows quote their content. `place` is the role of the label if the touched element only names what it opens, such as
    a row's title, further words of a row, or an app icon; otherwise "".
    """

    element: Element
    label: str
    button: bool
    row: bool = False
    place: Literal["", "title", "entry", "row", "lone", "pair", "icon"] = ""


def is_button(element: Element) -> bool:
    """Whether the element itself receives a touch."""
    return element.clickable or element.long_clickable or "button" in element.class_name.lower()


def has_state(element: Element) -> bool:
    """Whether a touch toggles or selects the element, according to Android or its class."""
    return element.checkable or element.class_name.endswith(_STATES)


def pressed(spot: TouchTarget) -> Element | None:
    """Return the element that receives the touch: the target if it is a button, otherwise the smallest button under the
    finger, otherwise the target. None if there is none of these.
    """
    if spot.target is not None and is_button(spot.target):
        return spot.target
    return min((e for e in spot.under if is_button(e)), key=lambda e: e.bounds.area, default=spot.target)


def words_under(spot: TouchTarget) -> tuple[Words, ...]:
    """Return every label that a touch may trigger.

    The button under the finger counts even if the model named another element. Words inside a button count one by one
    and joined in reading order. Words that are in no button count as a button of their own, because web pages and
    custom-drawn controls have such buttons.
    """
    target = spot.target
    found: dict[tuple[int, str], Words] = {}

    def add(element: Element, *labels: str, button: bool, row: bool = False) -> None:
        for label in labels or (element.text, element.description, element.hint):
            known = found.get((id(element), label))
            if label and (known is None or button > known.button):
                found[id(element), label] = Words(element, label, button, row)

    if target is not None:
        add(target, button=is_button(target))
    for element in covering(spot):
        add(element, button=True)
    under = spot.under
    holder = min((e for e in under if is_button(e)), key=lambda e: e.bounds.area, default=None)
    alone = holder is None
    if holder is not None:
        add(holder, button=True)
        inside = _labelled_in(holder, spot)
        listed = len(inside) > 1 and is_row(holder, spot.around)
        alone = len(inside) > 1 and not listed
        whole = len(inside) == 1 or "button" in holder.class_name.lower()
        for element in inside:
            add(element, button=whole and not holder.label)
        if inside:
            add(holder, *_read(inside), button=True, row=listed)
        elif not holder.label and not holder.checkable and (outer := _around(holder, under)) is not None:
            near = _labelled_in(outer, spot)
            add(outer, button=True)
            if near:
                add(outer, *_read(near), button=True, row=len(near) > 1 and is_row(outer, spot.around))
    for element in under:
        add(element, button=is_button(element) or (alone and (holder is None or element is target)))
    return tuple(found.values())


def covering(spot: TouchTarget) -> tuple[Element, ...]:
    """Return elements as large as a page that lie on top of the button under the finger and receive the touch instead.

    The tree lists elements in drawing order, so a container of the button comes before it and is not one of them.
    """
    point, most = spot.finger, spot.area * LARGE_SHARE
    held = [e for e in spot.around if point is not None and e.bounds.holds(point) and is_button(e)]
    last = max((at for at, e in enumerate(held) if e.bounds.area <= most), default=None)
    return () if last is None else tuple(e for e in held[last + 1 :] if e.bounds.area > most)


def _labelled_in(button: Element, spot: TouchTarget) -> list[Element]:
    """Return the elements with words in a button that are no buttons themselves."""
    inside = (e for e in spot.around if e is not button and button.bounds.surrounds(e.bounds))
    return [e for e in inside if e.label and not is_button(e)]


def _around(holder: Element, under: list[Element]) -> Element | None:
    """Return what receives a touch around a button without words: the row of a picture says what it is for."""
    outer = [e for e in under if is_button(e) and e is not holder and not e.editable]
    return min(outer, key=lambda e: e.bounds.area, default=None)


def _read(inside: list[Element]) -> list[str]:
    """Return a button's words as a person may read them: in tree order and by position, with and without numbers."""
    rows = sorted(inside, key=lambda e: (e.bounds.top, e.bounds.left))
    lines: list[list[Element]] = []
    for element in rows:
        if lines and beside(lines[-1][0], element):
            lines[-1].append(element)
        else:
            lines.append([element])
    placed = [e for line in lines for e in sorted(line, key=lambda e: e.bounds.left)]
    captions = []
    for order in (inside, placed):
        words = [e.label for e in order]
        bare = [label for label in words if not _COUNT.search(label)]
        captions += [" ".join(words), "".join(words), " ".join(bare)]
    return [caption for caption in dict.fromkeys(captions) if caption]


def is_row(holder: Element, around: tuple[Element, ...]) -> bool:
    """Whether the element is one row of a list of similar rows. Such rows quote the content that they open.

    Similar elements that lie on top of each other are not a list.
    """
    return len({e.bounds.top // MIN_ROW for e in alike(holder, around)}) >= ROWS


def alike(holder: Element, around: tuple[Element, ...]) -> list[Element]:
    """Return the clickable elements with the same class, left and right edge as `holder`: the rows of its list,
    including itself if it is clickable.
    """
    box = holder.bounds
    return [
        e
        for e in around
        if e.clickable
        and e.class_name == holder.class_name
        and (e.bounds.left, e.bounds.right) == (box.left, box.right)
        and e.bounds.height >= MIN_ROW
    ]


def beside(field: Element, button: Element) -> bool:
    """Whether two elements are at the same height, so that the button is in the row of the field."""
    return min(field.bounds.bottom, button.bounds.bottom) > max(field.bounds.top, button.bounds.top)
