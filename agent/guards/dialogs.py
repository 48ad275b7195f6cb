"""What a button agrees to: the words of the dialog that it answers, or of the page that it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from agent.guards.amounts import has_amount, is_amount
from agent.guards.hit_test import TouchTarget, is_button, pressed, words_under
from agent.guards.rules import Rule, Rules
from agent.guards.words import NEGATIONS, NEGATIONS_CHINESE, any_of, plain
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
"""What Android and its libraries call the parts of a dialog (AOSP alert_dialog.xml)."""
PAGE_SHARE = 0.9
"""A container of more than this share of the screen is its background."""
LOW_SHARE, INSET_SHARE, BAR_SHARE = 0.3, 0.03, 0.05
"""A window that begins lower than the first of these (a sheet; the list below a large title begins at a quarter of a
small or turned screen), or is clear of both sides and of the top, lies over a page."""
MAX_QUESTION = 160
"""Letters of a question that a dialog asks above its buttons."""
MAX_SENTENCE = 300
"""Letters; longer ones on a page are something to read."""
NEAR_SHARE = 0.35
"""Of the screen's height: what stands so near above a button is about it."""
MANY = 200
"""Buttons of one screen: with more of them, words count wherever they stand."""
MAX_CAPTION_WORDS = 4
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_ACCOUNT: Final = re.compile(
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b|[•*·xX●]{2,4}[ -]?\d{4}\b|\b(?:\d{4}[ -]){3}\d{1,7}\b"
)
"""An IBAN, or a card of which the last digits are shown, or all."""
WIDE_SHARE, BOTTOM_SHARE = 0.5, 0.6


def is_dialog(spot: TouchTarget) -> bool:
    """Whether what is touched belongs to a dialog or a sheet: by the ids of its parts, or as the window is smaller."""
    if any(e.resource_id.rsplit("/", 1)[-1] in _IDS for e in spot.around):
        return True
    if spot.size is None:
        return False
    width, height = spot.size.width, spot.size.height
    boxes = [e.bounds for e in spot.around if e.bounds.area <= spot.area * PAGE_SHARE]
    if not boxes:
        return False
    left, right, top = min(b.left for b in boxes), max(b.right for b in boxes), min(b.top for b in boxes)
    clear = left >= width * INSET_SHARE and right <= width * (1 - INSET_SHARE)
    return top >= height * LOW_SHARE or (clear and top >= height * BAR_SHARE)


def agreed(spot: TouchTarget, rules: Rules) -> Rule | None:
    """The rule that a touch would set off because of what it answers, None when it answers nothing of the kind.

    In a dialog every button counts but the harmless ones, on a page those that say no more than yes.
    """
    touched = pressed(spot)
    if touched is None or touched.editable or touched.checkable:
        return None
    captions = [w.label for w in words_under(spot) if w.button]
    if not is_button(touched) and all(len(caption.split()) > MAX_CAPTION_WORDS for caption in captions):
        return None
    if captions and all(is_harmless(caption, rules) for caption in captions):
        return None
    said = list(_said(spot, touched))
    labels = [label for label, _ in said]
    if is_dialog(spot):
        return _named(labels, rules, title=True) or _paid(labels, rules)
    if any(plain(caption) in map(plain, rules.confirm.labels) for caption in captions):
        height = spot.size.height if spot.size is not None else max((e.bounds.bottom for e in spot.around), default=0)
        near = [label for label, box in said if 0 <= touched.bounds.top - box.top <= height * NEAR_SHARE]
        return _named(labels, rules) or _named(near, rules, title=True) or _paid(labels, rules)
    return _last(touched, spot, rules)


def is_harmless(caption: str, rules: Rules) -> bool:
    """Whether a button with this caption only closes what it stands in, or goes on to what can still be left."""
    text = plain(caption)
    return text in map(plain, rules.confirm.harmless) or text.startswith(NEGATIONS)


def _said(spot: TouchTarget, touched: Element) -> Iterator[tuple[str, Bounds]]:
    """What the window says beside its buttons, and what is chosen in its list."""
    buttons = [e for e in spot.around if is_button(e) and e.bounds.area <= spot.area * PAGE_SHARE]
    if len(buttons) > MANY:
        buttons = []
    for element in spot.around:
        if element is touched or element.editable:
            continue
        within = [b for b in buttons if b is element or b.bounds.holds(element.bounds.centre)] if element.label else []
        if all(b.checked or b.selected for b in within):
            yield from ((label, element.bounds) for label in (element.text, element.description) if label)


def _named(labels: list[str], rules: Rules, *, title: bool = False) -> Rule | None:
    """The first rule that a question or a statement is about; with `title` also an order such as "Delete the file"."""
    texts = [plain(label) for label in labels]
    sentences = [sentence for label in labels for sentence in map(plain, _SENTENCES.split(label))]
    told = [sentence for sentence in sentences if len(sentence) <= MAX_SENTENCE]
    orders = [each for each in told if title and not each.startswith((*NEGATIONS, *NEGATIONS_CHINESE))]
    for rule in rules.approve.values():
        words, statements = _patterns(rule)
        if (
            any("?" in text[:MAX_QUESTION] and (words.search(text) or statements.search(text)) for text in texts)
            or any(map(statements.search, told))
            or any(words.match(each) and not each.endswith(rule.unless) for each in orders)
        ):
            return rule
    return None


@cache
def _patterns(rule: Rule) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A rule's words, and its statements. One look for all of them: a page may have thousands of texts."""
    return re.compile(any_of(rule.labels)), re.compile(any_of(rule.statements))


def _paid(labels: list[str], rules: Rules) -> Rule | None:
    pays = any(has_amount(label) or is_amount(label, bare=True) for label in labels)
    return rules.approve.get("pay") if pays else None


def _last(touched: Element, spot: TouchTarget, rules: Rules) -> Rule | None:
    """The rule of payments for the wide button that ends a page with an amount and an account, whatever its words."""
    if spot.size is None or not is_button(touched):
        return None
    box = touched.bounds
    below = [e for e in spot.around if is_button(e) and not e.editable and e.bounds.top >= box.bottom]
    wide = box.right - box.left >= spot.size.width * WIDE_SHARE and box.top >= spot.size.height * BOTTOM_SHARE
    if below or not wide:
        return None
    labels = [label for e in spot.around for label in (e.text, e.description) if label]
    if any(map(_ACCOUNT.search, labels)) and any(map(has_amount, labels)):
        return rules.approve.get("pay")
    return None
