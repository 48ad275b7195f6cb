"""Finds out what a button agrees to, by reading the dialog that it answers or the page that it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agent.guards.amounts import has_amount, is_amount, without_amounts
from agent.guards.forms import goes_on, is_noticed, moves_money
from agent.guards.lexicon import LabelMeaning, Lexicon
from agent.guards.rules import RuleName
from agent.guards.structure import is_last_of_payment
from agent.guards.touch_target import TouchTarget, is_button
from agent.told_values import bare_date
from devices.geometry import Bounds
from devices.phone import Element

_IDS: Final = {
    "alertTitle",
    "parentPanel",
    "buttonPanel",
    "contentPanel",
    "customPanel",
    "button1",
    "button2",
    "button3",
}
"""Resource ids that Android and its libraries use for the parts of a dialog (AOSP alert_dialog.xml)."""
PAGE_SHARE = 0.9
"""A container of more than this share of the screen counts as its background."""
DUST_SHARE = 0.0005
"""Anything smaller than this share of the screen is invisible and is ignored when the edges of a window are
determined.
"""
LOW_SHARE, INSET_SHARE, BAR_SHARE = 0.3, 0.03, 0.05
"""A window lies over a page if it begins below the first share of the screen's height (a sheet; the list below a large
title begins at a quarter of a small or rotated screen), or is clear of both sides (second share of the width) and the
top (third share of the height).
"""
NEAR_SHARE = 0.35
"""The share of the screen's height within which text above a button is taken to be about it."""
MANY = 200
"""On a screen with more buttons than this, words count wherever they are."""
MAX_CAPTION_WORDS = 4


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a button agrees to.

    `rule` is the policy rule for it, `object` are the words that say so, and `how` is what kind of words they are, such
    as "question". If the dialog's language has no word table, `how` is "foreign" and `rule` is "".
    """

    rule: str
    object: str
    how: str


def is_dialog(spot: TouchTarget) -> bool:
    """Whether the touched element belongs to a dialog or sheet. This is recognised by the ids of its parts, or by a
    window smaller than the screen.
    """
    if any(e.short_id in _IDS for e in spot.around):
        return True
    if spot.size is None:
        return False
    width, height, area = spot.size.width, spot.size.height, spot.area
    packages = {spot.package, "" if spot.target is None else spot.target.package, ""}
    boxes = [
        b
        for b in (e.bounds for e in spot.around if e.package in packages)
        if b.top < height and b.bottom > 0 and b.left < width and area * DUST_SHARE <= b.area <= area * PAGE_SHARE
    ]
    if not boxes:
        return False
    left, right, top = min(b.left for b in boxes), max(b.right for b in boxes), min(b.top for b in boxes)
    clear = left >= width * INSET_SHARE and right <= width * (1 - INSET_SHARE)
    return top >= height * LOW_SHARE or (clear and top >= height * BAR_SHARE)


def agreed(spot: TouchTarget, touched: Element, captions: list[str], lexicon: Lexicon) -> Agreement | None:
    """Return what a touch of this button would agree to; None if it answers nothing. `captions` are the button's
    labels.

    In a dialog, every button counts except harmless ones; on a page, only buttons that just say yes or are the last one
    of a payment.
    """
    if touched.editable or touched.checkable:
        return None
    if not is_button(touched) and all(len(caption.split()) > MAX_CAPTION_WORDS for caption in captions):
        return None
    bare = [without_amounts(caption) or caption for caption in captions]
    if captions and all(lexicon.read(caption).harmless for caption in bare):
        return None
    opens = bool(captions) and all(lexicon.read(caption).opens for caption in bare)
    noticed = bool(captions) and all(map(is_noticed, captions))
    if noticed and not any(
        e is not touched and is_button(e) and not e.bounds.surrounds(touched.bounds) for e in spot.around
    ):
        return None  # there is no choice: the button only confirms that something was read
    labels = (label for label, _ in _said(spot, touched))
    if any(map(goes_on, captions)) and (moved := next(filter(moves_money, labels), "")):
        return Agreement(RuleName.PAY, moved, "statement")
    if is_dialog(spot):
        said = _read(spot, touched, lexicon)
        found = _asked_or_stated(said, title=True)
        return found if noticed or opens else found or _paid(said) or _foreign(said, captions, touched, lexicon)
    if any(lexicon.read(caption).confirm for caption in captions):
        height = spot.size.height if spot.size is not None else max((e.bounds.bottom for e in spot.around), default=0)
        said = _read(spot, touched, lexicon)
        near = [each for each in said if 0 <= touched.bounds.top - each[2].top <= height * NEAR_SHARE]
        found = _asked_or_stated(said) or _asked_or_stated(near, title=True)
        paying = any(read.money or read.mentions & {RuleName.PAY} for _, read, _ in said)
        if found is None and (paying or not all(map(goes_on, captions))):  # skip what is only shown with its price
            found = _paid(said)
        if found is not None:
            return found
    slid = any(lexicon.read(caption).slide for caption in captions)
    if not opens and not slid and is_last_of_payment(touched, spot):
        return Agreement(RuleName.PAY, next((c for c in captions if c), ""), "last button")
    return None


_Said = list[tuple[str, LabelMeaning, Bounds]]


def _read(spot: TouchTarget, touched: Element, lexicon: Lexicon) -> _Said:
    return [(label, lexicon.read(label), box) for label, box in _said(spot, touched)]


def _said(spot: TouchTarget, touched: Element) -> Iterator[tuple[str, Bounds]]:
    """Yield what the window says apart from its buttons, and what is selected in its list."""
    page = spot.area * PAGE_SHARE
    buttons = [(e, e.bounds) for e in spot.around if is_button(e) and e.bounds.area <= page]
    if len(buttons) > MANY:
        buttons = []
    for element in spot.around:
        if element is touched or element.editable or not element.label:
            continue
        centre = element.bounds.centre
        if all(b.checked or b.selected for b, at in buttons if b is element or at.holds(centre)):
            yield from ((label, element.bounds) for label in (element.text, element.description) if label)


def _asked_or_stated(said: _Said, *, title: bool = False) -> Agreement | None:
    """Return what a question or statement is about; with `title`, also a command such as "Delete the file"."""
    for label, read, _ in said:
        if rule := read.asks or read.states or (title and read.orders):
            return Agreement(str(rule), label, "question" if read.asks else "statement" if read.states else "title")
    return None


def _paid(said: _Said) -> Agreement | None:
    amounts = (label for label, _, _ in said if has_amount(label) or is_amount(label, bare=True))
    found = next(amounts, "")
    return Agreement(RuleName.PAY, found, "amount") if found else None


def _foreign(said: _Said, captions: list[str], touched: Element, lexicon: Lexicon) -> Agreement | None:
    if len(set(captions)) > 1:  # a row of a list: a button has one caption
        return None
    unknown = [caption for caption in captions if not lexicon.read(caption).confirm]
    # The days of a calendar are not sentences: even in English, few of their words are in a table.
    labels = [label for label, _, _ in said if bare_date(label).month is None]
    if is_button(touched) and lexicon.is_foreign([*labels, *unknown]):
        return Agreement("", next(iter(labels), ""), "foreign")
    return None
