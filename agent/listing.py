"""Builds the element list for a model: decides which elements get a line, what each is called, and what is left out of
a long screen.

In real apps, about half of the touchable elements have no words of their own: the words are in untouchable views inside
them. So a control takes over the words inside it and becomes one line. If a screen has more lines than a model should
read, lines from the middle of its longest list are dropped. The top and bottom of the screen stay: the title, the tabs,
the message field, the last message.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from agent.guards.touch_target import LARGE_SHARE
from devices.geometry import Bounds, Size
from devices.phone import Element, is_slider, is_wheel

MAX_TOKENS: Final = 470
"""The maximum tokens of all lines together, as estimated by `_cost`. Lines that may not be dropped can exceed it."""
MAX_TOKENS_ALONE: Final = 800
"""The same maximum if the model is shown no picture."""
MAX_TOKENS_WHOLE: Final = 2400
"""The same maximum if the model asked for the rows that were left out."""
_OUTSIDE_LISTS: Final = 1.4
"""The factor by which all lines may exceed the limit before lines outside lists go: a keypad, a page of icons."""
MAX_READ: Final = 600
"""How many elements are considered, half from each end of the tree; the middle of a longer tree is ignored."""
MAX_TEXT: Final = 80
"""The maximum length of one element's words in a line, in characters."""
MAX_INSIDE: Final = 120
"""The maximum length of the words inside a control, in characters; further words get their own lines."""
_EDGE: Final = 0.14
"""The share of the screen's height at its top and bottom where no line is dropped: title bars and tabs."""
_STATUS_BAR: Final = 0.06
"""The maximum height of a status bar, as a share of the screen's longer side."""
_ONE_PLACE: Final = 0.003
"""The distance within which two centres are the same place, as a share of the screen's longer side."""
_DRAWN: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]+,?")
"""Characters of icon fonts (Unicode's private use areas): pictures, not words."""
_SYSTEM_UI: Final = "com.android.systemui"
_LINE_TOKENS: Final = 6
"""The tokens of a line's number, role and position, without its words."""
_WIDE_SIGN: Final = 0x2E80
_JOINT: Final = " · "

Place = Literal["line", "merged", "cut"]
"""How the list shows an element: with a line of its own, merged into another line or not at all, or cut and only
counted.
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """How the list shows one element. `inside` are the words inside it that its line includes."""

    place: Place = "line"
    inside: str = ""


def is_active(element: Element) -> bool:
    """Whether the element can be used: touched, checked, edited, scrolled or slid."""
    touched = element.clickable or element.long_clickable or element.checkable or element.editable
    return touched or element.scrollable or is_slider(element) or is_wheel(element)


def id_name(element: Element) -> str:
    """Return the element's resource id without the package."""
    return element.resource_id.rsplit("/", 1)[-1]


def words_of(element: Element) -> str:
    """Return an element's words in the form in which a line shows them: on one line and shortened; "" for an icon."""
    return " ".join(_DRAWN.sub(" ", element.label).split())[:MAX_TEXT]


def listed(
    elements: Sequence[Element], size: Size, package: str, *, covered: bool = False, tokens: int = MAX_TOKENS
) -> tuple[Listed, ...]:
    """Decide for each element, given in tree order, how the list shows it.

    `covered` means that words must not be shown, so none are merged into another line. `tokens` limits all lines
    together.
    """
    half = MAX_READ // 2
    read = [n for n in range(len(elements)) if n < half or n >= len(elements) - half]
    skipped = _without_use(elements, read, size, package)
    read = [n for n in read if n not in skipped]
    inside: dict[int, str] = {}
    merged = set(skipped)
    if not covered:
        for owner, texts in _owned(elements, read, size).items():
            inside[owner], told = _joined(elements, owner, texts)
            merged |= told
        read = [n for n in read if n not in merged]
        inside |= _first_words_of_lists(elements, read, inside)
        nameless = _nameless(elements, read, inside, size)
        merged |= nameless
        read = [n for n in read if n not in nameless]
    shown = _fitting(elements, read, inside, size, tokens)
    return tuple(
        Listed("merged" if n in merged else "line" if n in shown else "cut", inside.get(n, ""))
        for n in range(len(elements))
    )


def _without_use(elements: Sequence[Element], read: Sequence[int], size: Size, package: str) -> set[int]:
    """Return the status bar, duplicates in one place, and icons that cannot be touched."""
    long = max(size.width, size.height)
    found: set[int] = set()
    told: dict[str, list[int]] = defaultdict(list)
    for n in read:
        element = elements[n]
        bar = element.package == _SYSTEM_UI != package and element.bounds.bottom <= long * _STATUS_BAR
        if bar or not (words_of(element) or is_active(element)):
            found.add(n)
        elif element.label and not (element.checkable or element.editable or element.scrollable):
            told[element.label].append(n)
    for alike in told.values():
        for n in alike:
            here, active = elements[n].bounds.centre, is_active(elements[n])
            # Of two touchable ones, keep the inner one, which comes later; drop plain words for either.
            if any(
                abs(there.x - here.x) + abs(there.y - here.y) <= long * _ONE_PLACE
                for m in alike
                if m not in found and (m > n if is_active(elements[m]) == active else not active)
                for there in (elements[m].bounds.centre,)
            ):
                found.add(n)
    return found


def _owned(elements: Sequence[Element], read: Sequence[int], size: Size) -> dict[int, list[int]]:
    """Map each control to the words inside it; each word goes to the smallest control around it."""
    most = LARGE_SHARE * size.width * size.height
    controls = [
        n
        for n in read
        if (e := elements[n]).bounds.area <= most
        and not e.editable
        and (e.clickable or e.long_clickable or e.checkable)
    ]
    owned: dict[int, list[int]] = defaultdict(list)
    for n in read:
        element = elements[n]
        if is_active(element) or not element.label:
            continue
        around = [c for c in controls if c < n and _within(element.bounds, elements[c].bounds)]
        if around:
            owned[min(reversed(around), key=lambda c: elements[c].bounds.area)].append(n)
    return owned


def _joined(elements: Sequence[Element], owner: int, texts: Iterable[int]) -> tuple[str, set[int]]:
    """Return the words inside a control that its line does not have yet, and all elements they cover."""
    own = words_of(elements[owner]).casefold()
    told: set[int] = set()
    parts: dict[str, None] = {}
    for n in texts:
        words = words_of(elements[n])
        if words not in parts and words.casefold() not in own:
            if parts and len(_JOINT.join((*parts, words))) > MAX_INSIDE:
                continue
            parts[words] = None
        told.add(n)
    return _JOINT.join(parts), told


def _first_words_of_lists(
    elements: Sequence[Element], read: Sequence[int], inside: Mapping[int, str]
) -> dict[int, str]:
    """Return the first words of each list that nothing else identifies."""
    found: dict[int, str] = {}
    for n in read:
        element = elements[n]
        if not element.scrollable or element.label or element.resource_id or inside.get(n):
            continue
        first = (
            (words_of(elements[m]) or inside.get(m, ""))
            for m in read
            if m > n and _within(elements[m].bounds, element.bounds)
        )
        if words := next(filter(None, first), ""):
            found[n] = f"{words[:24]} …"
    return found


def _nameless(elements: Sequence[Element], read: Sequence[int], inside: Mapping[int, str], size: Size) -> set[int]:
    """Return active elements without words that are no controls of their own: touchable pages, mere containers of
    controls, and duplicates in one place.
    """
    most = LARGE_SHARE * size.width * size.height
    active = [n for n in read if is_active(elements[n])]
    found: set[int] = set()
    for n in active:
        element = elements[n]
        if words_of(element) or inside.get(n) or element.editable or element.checkable:
            continue
        others = [m for m in active if m != n and m not in found]
        same = any(
            elements[m].bounds.centre == element.bounds.centre and elements[m].scrollable == element.scrollable
            for m in others
        )
        holds = any(m > n and _within(elements[m].bounds, element.bounds) for m in others)
        page = element.bounds.area > most
        if same or (not element.scrollable and (page or holds)):
            found.add(n)
    return found


def _fitting(
    elements: Sequence[Element], read: Sequence[int], inside: Mapping[int, str], size: Size, tokens: int
) -> set[int]:
    """Return the elements that fit into the token limit. Others are dropped one by one from the middle of the longest
    list, those without words first.
    """
    cost = {n: _cost(elements[n], inside.get(n, "")) for n in read}
    total = sum(cost.values())
    if total <= tokens:
        return set(read)
    lists = [n for n in read if elements[n].scrollable]
    groups: dict[int | None, list[int]] = defaultdict(list)
    top, bottom = size.height * _EDGE, size.height * (1 - _EDGE)
    for n in read:
        element = elements[n]
        if element.scrollable or element.editable or element.focused:
            continue
        if not top < element.bounds.centre.y < bottom:
            continue
        around = [m for m in lists if m < n and _within(element.bounds, elements[m].bounds)]
        groups[min(around, key=lambda m: elements[m].bounds.area, default=None)].append(n)
    outside = groups.pop(None, [])
    shown = set(read)

    def cut(row: list[int]) -> int:
        """The tokens of what goes from a list."""
        middle = len(row) // 2
        at = min(
            (at for at, n in enumerate(row) if not (words_of(elements[n]) or inside.get(n))),
            key=lambda at: abs(at - middle),
            default=middle,
        )
        gone = row.pop(at)
        shown.discard(gone)
        return cost[gone]

    while total > tokens and groups:
        longest = max(groups, key=lambda g: sum(cost[n] for n in groups[g]))
        total -= cut(groups[longest])
        if not groups[longest]:
            del groups[longest]
    while total > tokens * _OUTSIDE_LISTS and outside:
        total -= cut(outside)
    return shown


def _cost(element: Element, inside: str) -> int:
    """Estimate the tokens of a line."""
    words = f"{words_of(element)}{inside}" or id_name(element)
    wide = sum(ord(sign) >= _WIDE_SIGN for sign in words)
    return _LINE_TOKENS + wide + (len(words) - wide) // 4


def _within(inner: Bounds, outer: Bounds) -> bool:
    return outer.holds(inner.centre) and inner.area <= outer.area
