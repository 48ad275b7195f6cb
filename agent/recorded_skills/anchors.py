"""Finds the target of a recorded action on another screen, and recognises a recorded screen by its words.

An anchor (the description of a target) is found by resource id and words, never by coordinates: a button may move, a
list change its order, a screen have another size. Two elements that fit equally well are no match, so nothing else is
ever touched instead. If an anchor is not found, a model is asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from agent.guards.binding import approval_context, is_presence, words_of
from agent.guards.touch_target import LARGE_SHARE, is_button
from agent.recorded_skills.step_record import Anchor, Landmark, filled, parameters_in
from devices.phone import Element, Observation

MOST_LANDMARKS: Final = 8
LONGEST_LANDMARK: Final = 40
"""The maximum characters of a landmark. Longer words are content, not the name of a page or button."""
SHARE: Final = 0.6
"""The share of its landmarks that a screen must show to count as the recorded one, because apps may move a label."""
LEAST_IDS: Final = 2
"""How many resource ids a screen without any of the recorded words must share with the recorded one, to count as the
same screen in another language.
"""
ROWS: Final = 3
"""How many containers of equal size make a list. Its content is not used as landmarks."""
_STATUS_BAR: Final = 0.04
_GENERIC: Final = frozenset(
    {"alertTitle", "message", "parentPanel", "button1", "button2", "button3"}
    | {"title", "summary", "icon", "text", "list"}
)
"""Ids that many screens share, so that they do not identify a control."""
_ENDS: Final = frozenset(".?!…。？！")
"""Sentence endings, which mark content, or explanations that change with each version."""
_EVERYWHERE: Final = frozenset(
    {"back", "navigate up", "close", "cancel", "ok", "more options", "menu", "home", "search", "返回", "关闭", "取消"}
)
"""Words that most pages have, which distinguish none."""
_COUNTER: Final = re.compile(r"(?:,\s?|\s?[(（])\d{1,4}[)）]?$")
"""A number that an app adds to a label: "Cart, 2", "Inbox (3)"."""


class Likeness(Enum):
    """How similar a screen is to the recorded one."""

    SAME = "same"
    TRANSLATED = "translated"
    """It has other words in the same places, because the phone uses another language."""
    UNTOLD = "untold"
    """The recording has no words of this screen, so it cannot be compared."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Found:
    """The element that an anchor identifies. `renamed` means that only its id matches, because its words have
    changed.
    """

    element: Element
    renamed: bool = False


def control_of(element: Element, observation: Observation) -> Element:
    """Return the element that receives a touch of this one: the control around it whose name its words are, otherwise
    the element itself.

    Other app versions and makers word and name the parts of a row differently, but the row itself stays.
    """
    if is_button(element) or element.editable or element.checkable:
        return element
    control = _button_around(element, observation) or element
    return control if not words_of(element) or _name(control, observation) == title_of(element) else element


def _button_around(element: Element, observation: Observation) -> Element | None:
    page = LARGE_SHARE * observation.size.width * observation.size.height
    around = [e for e in observation.elements or () if is_button(e) and e.bounds.area <= page and _holds(e, element)]
    return min(around, key=lambda e: e.bounds.area, default=None)


def anchor_of(element: Element, observation: Observation) -> Anchor | None:
    """Return an anchor that identifies the element on the screen `observation`; None if nothing distinguishes it from
    other elements.
    """
    box = element.bounds.clipped(observation.size).centre
    plain = Anchor(
        package=element.package or observation.package,
        role=_role(element),
        id=element.resource_id,
        words=_name(element, observation),
        editable=element.editable,
        checked=checked(element, observation),
        listed=_in_list(element, observation),
        at=(round(box.x / observation.size.width, 3), round(box.y / observation.size.height, 3)),
    )
    for anchor in (plain, plain.model_copy(update={"beside": _beside(element, observation)})):
        if (anchor.words or anchor.beside or names_one(anchor.id)) and _is_same(find(anchor, observation), element):
            return anchor
    return None


def find(anchor: Anchor, observation: Observation, values: Mapping[str, str] | None = None) -> Found | None:
    """Return the only element of this screen that the anchor identifies, with these parameter values filled in. None if
    there is none, or if several fit equally well.
    """
    words, beside = folded(filled(anchor.words, values or {})), folded(filled(anchor.beside, values or {}))
    there = [
        e
        for e in observation.elements or ()
        if (e.package or observation.package) == anchor.package and _visible(e, observation)
    ]
    if anchor.editable:
        there = [e for e in there if e.editable]
    same_id = [e for e in there if anchor.id and e.resource_id == anchor.id and _role(e) == anchor.role]
    if anchor.editable and same_id:  # otherwise an update changed its id, and its hint must identify it
        return _only(same_id, anchor, beside, observation)
    named = [e for e in there if folded(_name(e, observation)) == words]
    if words and not named:
        named = [e for e in there if uncounted(folded(_name(e, observation))) == uncounted(words)]
    if words:
        best = [e for e in named if e in same_id] or ([] if names_one(anchor.id) and same_id else named)
        if best:
            return _only(best, anchor, beside, observation)
        if not names_one(anchor.id) or parameters_in([anchor.words]):
            return None
        renamed = _only(same_id, anchor, beside, observation)
        return None if renamed is None else Found(renamed.element, renamed=True)
    if anchor.id:
        return _only(same_id, anchor, beside, observation)
    return _only(
        [e for e in there if _role(e) == anchor.role and not _name(e, observation)], anchor, beside, observation
    )


def place_of_words(element: Element, observation: Observation) -> Anchor | None:
    """Return an anchor for a place whose words will differ the next time: by its id or the words next to it. None if
    neither identifies the place.
    """
    alike = [e for e in observation.elements or () if e.resource_id == element.resource_id]
    beside = "" if names_one(element.resource_id) and len(alike) == 1 else _beside(element, observation)
    if not beside and len(alike) != 1:
        return None
    anchor = Anchor(
        package=element.package or observation.package, role=_role(element), id=element.resource_id, beside=beside
    )
    return anchor if words_at(anchor, observation) == words_of(element) else None


def words_at(anchor: Anchor, observation: Observation, values: Mapping[str, str] | None = None) -> str:
    """Return the current words at a place that `place_of_words` described; "" if they cannot be determined."""
    beside = folded(filled(anchor.beside, values or {}))
    there = [
        e
        for e in observation.elements or ()
        if (e.package or observation.package) == anchor.package
        and anchor.id in {"", e.resource_id}
        and _role(e) == anchor.role
        and (not beside or folded(_beside(e, observation)) == beside)
    ]
    return words_of(there[0]) if len(there) == 1 else ""


def landmarks_of(observation: Observation, target: Element | None = None) -> tuple[Landmark, ...]:
    """Return words that identify this screen, first those of titles and buttons. Left out are fields, list rows,
    sentences, words with numbers, words that many screens have, and the words of `target`.
    """
    bar = observation.size.height * _STATUS_BAR
    rows = _rows(observation)
    own = {_name(target, observation)} if target is not None else set()
    found: dict[str, Landmark] = {}
    ordered = sorted(
        observation.elements or (), key=lambda e: not is_button(e) and e.bounds.centre.y > observation.size.height / 4
    )
    for element in ordered:
        words = title_of(element)
        if not words or element.editable or element.scrollable or len(words) > LONGEST_LANDMARK or words in own:
            continue
        if words[-1] in _ENDS or any(map(str.isdigit, words)) or is_presence(words) or folded(words) in _EVERYWHERE:
            continue
        foreign = element.package and element.package != observation.package
        if foreign or element.bounds.centre.y <= bar or _stands_in(element, rows):
            continue
        found.setdefault(folded(words), Landmark(words=words, id=element.resource_id))
    return tuple(found.values())[:MOST_LANDMARKS]


def likeness(
    landmarks: Sequence[Landmark],
    observation: Observation,
    values: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> Likeness:
    """Return how similar this screen is to the one that has these landmarks.

    Landmarks with a parameter must all be present, with these `values` filled in. `names` maps recorded words
    (casefolded) to their current names.
    """
    if not landmarks:
        return Likeness.UNTOLD
    values, names = values or {}, names or {}
    shown = {folded(words) for e in observation.elements or () for words in (words_of(e), title_of(e)) if words}

    def is_there(mark: Landmark) -> bool:
        now = folded(filled(mark.words, values))
        return now in shown or folded(names.get(now, now)) in shown

    def has_value(name: str) -> bool:
        """Whether a value is part of any words here: a sentence around it is another one in another language."""
        value = folded(names.get(folded(values.get(name, "")), ""))
        return bool(value) and any(value in words for words in shown)

    own = [mark for mark in landmarks if parameters_in([mark.words])]
    if not all(is_there(mark) or all(map(has_value, parameters_in([mark.words]))) for mark in own):
        return Likeness.OTHER
    there = sum(map(is_there, landmarks))
    if there >= math.ceil(SHARE * len(landmarks)):
        return Likeness.SAME
    ids = {mark.id for mark in landmarks if names_one(mark.id)}
    if len(ids) >= LEAST_IDS and ids <= {e.resource_id for e in observation.elements or ()}:
        return Likeness.TRANSLATED
    return Likeness.OTHER


def folded(words: str) -> str:
    """Return the words in the form in which words are compared, ignoring spaces and case."""
    return " ".join(words.casefold().split()).removesuffix("…").strip()


def uncounted(words: str) -> str:
    """Return the words without a number that the app adds to a label, as in "Inbox (3)"."""
    bare = _COUNTER.sub("", words)
    return bare if sum(map(str.isalpha, bare)) >= 2 else words


def _only(found: Sequence[Element], anchor: Anchor, beside: str, observation: Observation) -> Found | None:
    """Return the only intended element of these; a control and the words inside it count as one."""
    if beside:
        found = [e for e in found if folded(_beside(e, observation)) == beside]
    if not found:
        return None
    outer = max(found, key=lambda e: e.bounds.area)
    if any(not outer.bounds.holds(e.bounds.centre) for e in found):
        return None
    alike = [e for e in found if _role(e) == anchor.role]
    if len(alike) > 1:  # in Compose, an icon's picture is a view of the same kind as its button
        alike = [e for e in alike if is_button(e)]
        if len(alike) != 1:
            return None
    return Found(alike[0] if alike else min(found, key=lambda e: e.bounds.area))


def _is_same(found: Found | None, element: Element) -> bool:
    return found is not None and not found.renamed and found.element is element


def names_one(identifier: str) -> bool:
    """Whether a resource id is likely to belong to only one control of an app."""
    return bool(identifier) and identifier.rsplit("/", 1)[-1] not in _GENERIC and not identifier.startswith("android:")


def title_of(element: Element) -> str:
    """Return the first line of an element's words. Merged views, such as Flutter's, report all lines of a row as one
    text.
    """
    said = element.text or element.description or (element.hint if element.editable else "")
    return "" if element.password else " ".join(said.strip().partition("\n")[0].split())


def _role(element: Element) -> str:
    return element.class_name.rsplit(".", 1)[-1]


def _name(element: Element, observation: Observation) -> str:
    """Return its title, otherwise the first words inside it; for a field its hint, which may be a text inside it."""
    if element.password:
        return ""
    if words := (element.hint or element.text) if element.editable else title_of(element):
        return words
    if element.scrollable or element.bounds.area > LARGE_SHARE * observation.size.width * observation.size.height:
        return ""
    inside = [e for e in observation.elements or () if e is not element and words_of(e) and _holds(element, e)]
    first = min(inside, key=lambda e: (e.bounds.top, e.bounds.left), default=None)
    return "" if first is None else title_of(first)


def _beside(element: Element, observation: Observation) -> str:
    """Return the first words of its row or card that are not its own; without a row, the words directly above it."""
    context = approval_context(observation, element)
    near = [e for e in context.near if e is not element and words_of(e) and not _holds(element, e)]
    if near:
        return words_of(min(near, key=lambda e: (e.bounds.top, e.bounds.left)))
    box = element.bounds
    above = [
        e
        for e in observation.elements or ()
        if words_of(e) and e.bounds.bottom <= box.top and e.bounds.left < box.right and box.left < e.bounds.right
    ]
    nearest = max(above, key=lambda e: e.bounds.bottom, default=None)
    return "" if nearest is None else words_of(nearest)


def checked(element: Element, observation: Observation) -> bool | None:
    """Return the state of the switch or checkbox that a touch of this element changes; None if there is none or there
    are several.
    """
    if element.checkable:
        return element.checked
    row = element if is_button(element) else _button_around(element, observation)
    boxes = [] if row is None else [e for e in observation.elements or () if e.checkable and _holds(row, e)]
    return boxes[0].checked if len(boxes) == 1 else None


def _in_list(element: Element, observation: Observation) -> bool:
    lists = any(e.scrollable and e is not element and _holds(e, element) for e in observation.elements or ())
    return lists or is_chosen_of_many(element, observation)


def _rows(observation: Observation) -> list[Element]:
    """Return touchable containers of which several have the same size."""
    page = LARGE_SHARE * observation.size.width * observation.size.height
    able = [e for e in observation.elements or () if (e.clickable or e.long_clickable) and e.bounds.area <= page]
    sizes: dict[tuple[str, int, int], list[Element]] = {}
    for e in able:
        box = e.bounds
        sizes.setdefault((_role(e), (box.right - box.left) // 8, (box.bottom - box.top) // 8), []).append(e)
    return [e for alike in sizes.values() if len(alike) >= ROWS for e in alike]


def _stands_in(element: Element, rows: Sequence[Element]) -> bool:
    return any(row is element or _holds(row, element) for row in rows)


def is_chosen_of_many(element: Element, observation: Observation) -> bool:
    """Whether the element is one of several similar ones, like the rows of a list."""
    return _stands_in(element, _rows(observation))


def _holds(outer: Element, inner: Element) -> bool:
    return outer.bounds.holds(inner.bounds.centre) and inner.bounds.area < outer.bounds.area


def _visible(element: Element, observation: Observation) -> bool:
    return element.bounds.clipped(observation.size).area > 0
