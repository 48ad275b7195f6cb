"""Binds an approval to what the person saw: the words of the touched dialog or row, of the window around it, or its
picture.

Parts that were already changing on their own before the question are not compared afterwards, unless the person was
shown them or they contain numbers. Everything else must match exactly. At worst a question is repeated, but nothing is
done that was not approved.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from typing import Final, Literal

from PIL import Image

from agent.guards.facts import about_of
from agent.guards.structure import is_drawn
from agent.guards.touch_target import LARGE_SHARE, is_button
from agent.wording import shortened
from devices.geometry import Bounds, Point
from devices.phone import Element, Observation
from devices.pictures import CELL

MAX_TOLD = 8
"""How many labels of a dialog or row a person is shown: the first one, and those next to the control."""
MAX_TOLD_OF_PAGE = 4
MAX_LETTERS = 160
"""The maximum length of one label, in letters."""
MAX_RESTLESS = 20
"""How many places of a window may change on their own; a window with more of them counts as a different one."""
DIALOG_TOP = 0.3
"""A window without words in this top share of the screen counts as a dialog, because pages have their title there."""
_DIALOG_IDS = {"alertTitle", "parentPanel", "permission_message", "grant_dialog", "permission_allow_button"}
_STATUS_BAR = 0.04
_TIME = re.compile(
    r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?"
    r"|\b\d{1,3}\s?(?:hours?|hrs?|h|minutes?|min|m|seconds?|secs?|s)\b|\b\d{1,3}\s?(?:小时|分钟|分|秒)",
    re.IGNORECASE,
)
_CLOCKS = ("clock", "chronometer", "countdown", "timer")
_PRESENCE = re.compile(
    r"(?:is )?typing\s?(?:\.{3}|…)?|(?:recording audio|sending a photo)\s?(?:\.{3}|…)|online|offline|active now"
    r"|active \d{1,3}\s?\w{1,7} ago|last seen (?:recently|(?:today |yesterday )?(?:at )?[\d:apm ]{1,9})"
    r"|(?:对方)?正在(?:输入|讲话|说话)\s?(?:\.{3}|…|⋯)?|在线|离线|刚刚在线",
    re.IGNORECASE,
)
"""Whole labels in messengers on what the other person is doing; they do not identify a recipient or topic."""

GRID = 64
"""How many cells per side a picture is reduced to before it is compared; even one digit of small print changes its
cell.
"""
SAME_LEVELS = 3
"""How much the grey value (0–255) of a cell may differ; JPEG compression of quick screenshots changes it that much."""
REACH = 0.2
"""The share of the screen's height above and below a spot without an element whose picture is compared."""


@dataclass(frozen=True)
class ApprovalContext:
    """A control and the window it is in, as a person approves them.

    `kind` says what the control belongs to. `window` are the elements of the window. `near` are those that identify the
    control: itself and the others with words in its dialog or row. `shown` are the elements whose words the person is
    shown with the question.
    """

    kind: Literal["dialog", "row", "page"]
    window: tuple[Element, ...]
    near: tuple[Element, ...]
    shown: tuple[Element, ...]
    top: frozenset[str]
    """The words at the top of the screen, such as the recipient of a message."""

    @property
    def words(self) -> list[str]:
        """The labels that the person is shown, each once and shortened."""
        lines = dict.fromkeys(shortened(words_of(e), MAX_LETTERS) for e in self.shown)
        return [line for line in lines if line]

    @property
    def title(self) -> list[str]:
        """The words at the top of the screen, sorted, without those that only say what the other person of a
        conversation is doing.
        """
        return sorted(words for words in self.top if not is_presence(words))

    @property
    def title_word(self) -> str:
        """The label at the top of the screen if there is exactly one, such as the recipient of a message;
        otherwise "".
        """
        return self.title[0] if len(self.title) == 1 else ""

    def own_digest(self, restless: list[list[int]]) -> str:
        """Return a digest of the control and its dialog or row. `restless` are the places that change on their own
        (`restless_places`); times there are ignored.
        """
        return digest([_item(e, in_place=_is_restless(e, restless)) for e in self.near])

    def window_digest(self, restless: list[list[int]]) -> str:
        """Return a digest of all words and states of the window, in order. Places in `restless`, which change on their
        own, are left out unless the person was shown them or they contain numbers.
        """
        return digest([item for e in self.window if (item := self._counted(e, restless)) is not None])

    @cached_property
    def _own(self) -> frozenset[int]:
        return frozenset(id(e) for e in self.near)

    @cached_property
    def _firm(self) -> frozenset[int]:
        return self._own | {id(e) for e in self.shown}

    def _counted(self, element: Element, restless: list[list[int]]) -> list[str] | None:
        """Return the parts of an element that count; None if none do."""
        words = words_of(element)
        if not words and not element.checkable:
            return None
        near = self.kind != "page" and id(element) in self._own
        if not near and is_presence(words):
            return None
        moves = _is_restless(element, restless)
        item = _item(element, in_place=moves or (not near and _is_clock(element)))
        firm = id(element) in self._firm or words in self.top or element.editable
        return None if moves and not firm and not any(sign.isdigit() for sign in item[0]) else item


def approval_context(observation: Observation, target: Element | None, point: Point | None = None) -> ApprovalContext:
    """Return the context in which a person approves a touch: of the element `target` or, without one, of the spot
    `point`.
    """
    window = _window(observation, target)
    top = frozenset(about_of(observation))
    if target is not None:
        box = target.bounds
    elif point is not None:
        box = Bounds(point.x, point.y, point.x + 1, point.y + 1)
    else:
        return ApprovalContext("page", window, (), (), top)
    if _is_dialog(window, observation):
        return ApprovalContext(
            "dialog", window, window, _shown_elements(window, box, target, MAX_TOLD, whole=True), top
        )
    row = _row(observation, window, target, box)
    if any(words_of(e) for e in row if e is not target and not _is_caption(e)):
        return ApprovalContext("row", window, row, _shown_elements(row, box, target, MAX_TOLD, whole=True), top)
    near = (target,) if target is not None else ()
    return ApprovalContext(
        "page", window, near, _shown_elements(window, box, target, MAX_TOLD_OF_PAGE, whole=False), top
    )


def restless_places(before: Observation, now: Observation, target: Element | None) -> list[list[int]]:
    """Return the places where the window changed between two observations although nothing was done, each as left, top,
    right and bottom in pixels. Empty if there are too many.
    """
    old, new = _window(before, target), _window(now, target)
    then, there = Counter(map(_key, old)), Counter(map(_key, new))
    changed = [e for e in old if _key(e) not in there] + [e for e in new if _key(e) not in then]
    boxes = [[e.bounds.left, e.bounds.top, e.bounds.right, e.bounds.bottom] for e in changed]
    return boxes if len(boxes) <= MAX_RESTLESS else []


def words_of(element: Element) -> str:
    """Return an element's words, in a form that does not depend on how the phone reports elements.

    A password has none, and an empty field has its hint, because only uiautomator2 reports hints separately.
    """
    if element.password:
        return ""
    if element.editable:
        return element.text or element.hint
    return " ".join((element.text or element.description).split())


def is_presence(words: str) -> bool:
    """Whether the label only says what the other person of a conversation is doing, such as "online" or "typing…"."""
    return _PRESENCE.fullmatch(words) is not None


def digest(value: object) -> str:
    """Return a short hash of JSON data that is the same in every process."""
    told = json.dumps(value, ensure_ascii=False)
    return blake2s(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def picture_of(observation: Observation, where: Bounds | None, *, cells: int = GRID) -> str | None:
    """Return the part `where` of the screenshot as a short text, for comparison with `same_picture`; None if there is
    no picture.
    """
    if observation.thumbnail is None or where is None:
        return None
    box = where.clipped(observation.size)
    part = (box.left // CELL, box.top // CELL, -(-box.right // CELL), -(-box.bottom // CELL))
    shown = observation.thumbnail.convert("L").crop(part).resize((cells, cells), Image.Resampling.BOX)
    return b64encode(zlib.compress(shown.tobytes(), 9)).decode()


def same_picture(one: str, other: str) -> bool:
    """Whether two results of `picture_of` show the same, apart from compression."""
    pairs = zip(zlib.decompress(b64decode(one)), zlib.decompress(b64decode(other)), strict=True)
    return max(abs(here - there) for here, there in pairs) <= SAME_LEVELS


def pictured(
    observation: Observation, context: ApprovalContext, target: Element | None, point: Point | None
) -> Bounds | None:
    """Return the bounds of the picture that identifies the touched spot if no words do; None if words do, or if there
    is no spot on a screen with elements.
    """
    if target is not None and (
        target.editable or any(words_of(e) for e in context.near if target.bounds.surrounds(e.bounds))
    ):
        return None
    if target is not None and target.bounds.area <= LARGE_SHARE * observation.size.width * observation.size.height:
        return target.bounds
    if point is None:
        return None if context.window else whole_screen(observation)
    reach = int(observation.size.height * REACH)
    return Bounds(0, point.y - reach, observation.size.width, point.y + reach)


def whole_screen(observation: Observation) -> Bounds:
    """Return the bounds of the screen without the status bar, whose clock keeps changing."""
    return Bounds(0, int(observation.size.height * _STATUS_BAR), observation.size.width, observation.size.height)


def _window(observation: Observation, target: Element | None) -> tuple[Element, ...]:
    """Return the elements of the window, without the status bar, the keyboard and other apps."""
    packages = {observation.package, observation.package if target is None else target.package}
    bar = observation.size.height * _STATUS_BAR
    elements = observation.elements or ()
    own = tuple(e for e in elements if e.package in packages or (not e.package and e.bounds.centre.y > bar))
    return own or elements


def _is_dialog(window: tuple[Element, ...], observation: Observation) -> bool:
    if any(e.short_id in _DIALOG_IDS for e in window):
        return True
    return all(e.bounds.top > observation.size.height * DIALOG_TOP for e in window)


def _row(
    observation: Observation, window: tuple[Element, ...], target: Element | None, box: Bounds
) -> tuple[Element, ...]:
    """Return the control with everything in the same row of a list or in the same card."""
    page = LARGE_SHARE * observation.size.width * observation.size.height
    cards = [
        e
        for e in window
        if e is not target and is_button(e) and not e.scrollable and e.bounds.area <= page and _covers(e.bounds, box)
    ]
    card = min(cards, key=lambda e: e.bounds.area, default=None)
    if card is not None:
        box = card.bounds
    elif target is not None and target.bounds.area > page:
        return (target,)
    listed = any(e.scrollable and e is not target and _covers(e.bounds, box) for e in window)
    return tuple(
        e
        for e in window
        if e is target
        or e is card
        or box.surrounds(e.bounds)
        or (listed and not e.scrollable and _level(e.bounds, box))
    )


def _shown_elements(
    elements: tuple[Element, ...], box: Bounds, target: Element | None, most: int, *, whole: bool
) -> tuple[Element, ...]:
    """Return the labels to show: those above or level with the control, the nearest ones and, if `whole`, the first."""
    said = [e for e in elements if e is not target and words_of(e) and not (e.editable or e.scrollable)]
    said = [e for e in said if not _is_caption(e) and e.bounds.top < box.bottom]
    said.sort(key=lambda e: (e.bounds.top, e.bounds.left))
    if len(said) <= most:
        return tuple(said)
    return (said[0], *said[len(said) - most + 1 :]) if whole else tuple(said[len(said) - most :])


def _is_caption(element: Element) -> bool:
    """Whether the element's words are the caption of another button."""
    name = element.class_name.lower()
    return element.clickable and ("button" in name or "image" in name)


def _item(element: Element, *, in_place: bool) -> list[str]:
    """Return the element's words and state; with `in_place`, times are left out because they keep changing."""
    words = words_of(element)
    return [_TIME.sub("…", words) if in_place else words, f"{element.checked:d}{element.selected:d}"]


def _key(element: Element) -> tuple[str, ...]:
    return tuple(_item(element, in_place=False))


def _is_restless(element: Element, places: list[list[int]]) -> bool:
    """Whether the element is where something changed on its own. Each must contain the other's centre, so that a page
    that shows the time does not make everything in it restless.
    """
    box = element.bounds
    return any(box.holds(place.centre) and place.holds(box.centre) for place in (Bounds(*each) for each in places))


def _is_clock(element: Element) -> bool:
    name = f"{element.resource_id} {element.class_name}".lower()
    return any(clock in name for clock in _CLOCKS)


def _covers(outer: Bounds, inner: Bounds) -> bool:
    return (
        outer.left <= inner.left
        and outer.top <= inner.top
        and outer.right >= inner.right
        and outer.bottom >= inner.bottom
    )


def _level(one: Bounds, other: Bounds) -> bool:
    """Whether the centre of one is at the height of the other."""
    return other.top <= one.centre.y < other.bottom or one.top <= other.centre.y < one.bottom


_CLASSES: Final = re.compile(r"Image|Photo|Picture|Thumb|Video|Surface|Texture")
SMALLEST_SHARE: Final = 0.006
"""Pictures below this share of the screen are avatars and icons, which are ignored because they come and go."""
LEAF_SHARE: Final = 0.04
"""An element without words and children counts as a picture from this share of the screen on."""
PAGE_SHARE: Final = 0.1
"""A picture is what the page is about from this share of the screen on."""
PICTURE_REACH: Final = 0.2
"""A picture belongs to a control if it is within this share of the screen's height."""
MOST: Final = 8
CELLS: Final = 16
"""How many cells per side a picture is reduced to before it is compared; another photo differs in some of them."""


def shown_pictures(
    observation: Observation, context: ApprovalContext, target: Element | None, before: Observation | None = None
) -> list[str | None]:
    """Return the pictures that a touch of `target` is about, in the form of `picture_of`: those of its dialog or row
    from top to bottom or, on a page, those that the page is about.

    A picture that had already changed on its own since the observation `before` is replaced by None.
    """
    boxes = _boxes(observation, context, target)
    now = [picture_of(observation, box, cells=CELLS) for box in boxes]
    if before is None:
        return now
    then = [picture_of(before, box, cells=CELLS) for box in boxes]
    return [new if new and old and same_picture(old, new) else None for old, new in zip(then, now, strict=True)]


def same_pictures(approved: list[str | None], now: list[str | None]) -> bool:
    """Whether the pictures are still those that were approved. An approved None matches anything."""
    if len(approved) != len(now):
        return False
    pairs = zip(approved, now, strict=True)
    return all(old is None or (new is not None and same_picture(old, new)) for old, new in pairs)


def _boxes(observation: Observation, context: ApprovalContext, target: Element | None) -> list[Bounds]:
    if target is None:
        return []
    screen = observation.size.width * observation.size.height
    part = context.window if context.kind == "page" else context.near
    found = [e for e in part if e is not target and _is_picture(e, part, screen)]
    if context.kind == "page":
        found = [e for e in found if _is_about(e, target, observation)]
    if is_drawn(target):
        found.append(target)
    found = sorted(found, key=lambda e: e.bounds.area, reverse=True)[:MOST]
    whole = whole_screen(observation)
    boxes = [
        Bounds(b.left, max(b.top, whole.top), b.right, b.bottom).clipped(observation.size)
        for b in (e.bounds for e in found)
    ]
    return sorted((box for box in boxes if box.area), key=lambda box: (box.top, box.left))


def _is_picture(element: Element, window: tuple[Element, ...], screen: int) -> bool:
    if element.editable or element.scrollable or element.bounds.area < SMALLEST_SHARE * screen:
        return False
    if _CLASSES.search(element.class_name.rsplit(".", 1)[-1]):
        return True
    if element.label or element.bounds.area < LEAF_SHARE * screen:
        return False
    return not any(e is not element and element.bounds.holds(e.bounds.centre) for e in window)


def _is_about(picture: Element, target: Element, observation: Observation) -> bool:
    """Whether a picture is what the page is about, is selected, or is near the control."""
    if (
        picture.bounds.area >= PAGE_SHARE * observation.size.width * observation.size.height
        or picture.checked
        or picture.selected
    ):
        return True
    gap = max(target.bounds.top - picture.bounds.bottom, picture.bounds.top - target.bounds.bottom)
    return gap <= PICTURE_REACH * observation.size.height
