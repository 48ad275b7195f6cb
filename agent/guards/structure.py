"""Determines what a control does from its position and the parts of its resource id, which works in any language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agent.guards.amounts import has_amount, is_amount, without_amounts
from agent.guards.forms import answers
from agent.guards.keys import bottom_of_page
from agent.guards.lexicon import Lexicon
from agent.guards.rules import RuleName
from agent.guards.touch_target import TouchTarget, alike, beside, is_button, is_row
from agent.guards.words import id_words
from devices.phone import Element

_VERBS: Final = {
    RuleName.SEND: {"send", "publish", "resend"},
    RuleName.PAY: {"pay", "buy", "purchase", "checkout", "transfer", "withdraw", "subscribe", "donate"},
    RuleName.DELETE: {"delete", "remove", "erase", "uninstall", "wipe"},
    RuleName.INSTALL: {"install"},
    RuleName.PERMISSION: {"allow", "grant", "authorize", "authorise"},
    RuleName.ACCOUNT: {"logout", "signout"},
}
"""What ids call a consequence. "post", "order" and "share" more often name things than actions."""
_THINGS: Final = frozenset(
    re.findall(
        r"\w+",
        "list history tab tabs header title count counter filter filters chip tag log logs items folder status method "
        "methods settings screen page pager avatar label hint options option info help mode sender recipient progress "
        "divider background spinner error success name date time query search field input edit",
    )
)
"""Parts of ids that name a thing: "transfer_history" shows something."""
_FURNITURE: Final = frozenset(
    re.findall(r"\w+", "iv img image bt imagebutton layout container ll rl tv text cta main primary bottom item")
)
_CARD: Final = re.compile(r"\b(?:mm ?/ ?(?:yy|aa|jj|гг|rr)|cvv2?|cvc2?|iban|bic)\b", re.IGNORECASE)
_ACCOUNT: Final = re.compile(
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b|[•*·xX●]{2,4}[ -]?\d{4}\b|\b(?:\d{4}[ -]){3}\d{1,7}\b"
)
"""An IBAN, or a card number shown in full or by its last digits."""
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff]")
SYSTEM_UI: Final = "com.android.systemui"
_PAGERS: Final = ("ViewPager", "ViewPager2", "HorizontalScrollView", "TabLayout", "Carousel", "Gallery")
WIDE_SHARE, BOTTOM_SHARE = 0.5, 0.6
ICON_SHARE = 0.25
"""An element wider than this share of the screen's width is not an icon next to a field."""
LOW_FIELD_SHARE = 0.4
"""Message fields begin below this share of the screen's height, even above a keyboard."""
CORNER_SHARE = 0.12
"""The back arrow and the close button are within this top share of the screen's height."""
MAX_PRICED_WORDS = 5
"""How many words besides the amount a button that accepts an offer may have; a longer caption is a sentence."""
FORM_SHARE = 0.15
"""A form's button is at most this share of the screen's height below its field."""
MAX_HINT_WORDS: Final = 4
_COMPOSERS: Final = {"composer", "compose", "message", "msg", "chat", "comment", "reply"}
SWIPED_SHARE, FULL_SHARE = 0.25, 0.8
"""The share of the screen's width that a finger moves at least to swipe a row away, and that a list row takes
at least.
"""


def by_id(element: Element) -> str:
    """Return the rule that the parts of a control's id name ("iv_send", "composerSend", "pay_now"); "" if none."""
    if not is_button(element) or element.editable or element.checkable or not element.resource_id:
        return ""
    parts = [part for part in id_words(element.resource_id) if part not in _FURNITURE]
    if not parts or not _THINGS.isdisjoint(parts):
        return ""
    second = parts[1:2] if parts[0] in {"confirm", "click", "do", "on"} else []
    ends = {parts[0], parts[-1], *second}
    return next((rule for rule, verbs in _VERBS.items() if not verbs.isdisjoint(ends)), "")


def is_drawn(element: Element) -> bool:
    """Whether the element is a picture whose only words are its description, so that people may see something else on
    it.
    """
    name = element.class_name.rsplit(".", 1)[-1]
    return "Image" in name and not element.text and bool(element.description)


def is_navigation(element: Element, spot: TouchTarget) -> bool:
    """Whether the element is one of Android's own bars, or a small picture in an upper corner: back, up, close."""
    if element.package == SYSTEM_UI:
        return True
    if spot.size is None:
        return False
    box, width, height = element.bounds, spot.size.width, spot.size.height
    if box.bottom > height * CORNER_SHARE or box.width > width * ICON_SHARE:
        return False
    return box.left < width * ICON_SHARE or box.right > width * (1 - ICON_SHARE)


def is_wide(element: Element, spot: TouchTarget) -> bool:
    """Whether the element is as wide as the button that ends a page."""
    return spot.size is not None and element.bounds.width >= spot.size.width * WIDE_SHARE


def is_price(element: Element, spot: TouchTarget) -> bool:
    """Whether a button's whole caption is an amount of money, so that touching it buys."""
    if not element.class_name.endswith("Button") or is_row(element, spot.around):
        return False
    return any(is_amount(label) for label in (element.text, element.description) if label)


def takes_price(touched: Element, captions: Iterable[str], spot: TouchTarget, lexicon: Lexicon) -> str:
    """Return the caption with which a button accepts an offer at its price; "" if there is none.

    The amount is next to a word for yes ("Aceptar por S/ 7") or, on an Android button, next to any words except those
    that only show or close something.
    """
    if touched.editable or touched.checkable:
        return ""
    button = touched.class_name.endswith("Button") and not is_row(touched, spot.around)
    for caption in captions:
        rest = without_amounts(caption).split()
        if not has_amount(caption) or not rest or len(rest) > MAX_PRICED_WORDS:
            continue
        begins = [lexicon.read(" ".join(rest[: number + 1])) for number in range(len(rest))]
        if any(read.confirm for read in begins):
            return caption
        if button and not any(read.harmless or read.opens or read.search for read in begins):
            return caption
    return ""


def answers_call(captions: Iterable[str], touched: Element, spot: TouchTarget, lexicon: Lexicon) -> bool:
    """Whether the touched button answers a call: its caption says so, and another button of the window declines."""
    if not any(map(answers, captions)):
        return False
    others = [e for e in spot.around if is_button(e) and e is not touched]
    return any(lexicon.read(label).harmless for e in others for label in (e.text, e.description) if label)


def is_last_of_payment(touched: Element, spot: TouchTarget) -> bool:
    """Whether the element is the wide button that ends a page with an amount, an account or card fields.

    For a row of a price list, the list's amounts do not count, because it opens what it names, like the rows above it.
    """
    if spot.size is None or not is_button(touched) or touched.editable:
        return False
    box, width = touched.bounds, spot.size.width
    if box.width < width * WIDE_SHARE or box.top < bottom_of_page(spot, spot.size.height) * BOTTOM_SHARE:
        return False
    for e in spot.around:
        below = e is not touched and e.bounds.top >= box.bottom and is_button(e) and not e.editable
        if below and e.package == touched.package:
            return False
    said = _outside_price_list(touched, spot.around)
    labels = [label for e in said for label in (e.text, e.description, e.hint) if label]
    return any(has_amount(label) or _CARD.search(label) or _ACCOUNT.search(label) for label in labels)


def _outside_price_list(row: Element, around: tuple[Element, ...]) -> tuple[Element, ...]:
    """Return what a page says outside the price list of this row; all of it if it is no such row.

    Each row of a price list has words and an amount of its own, and none is a button.
    """
    if row.class_name.endswith("Button"):
        return around
    priced = [each for each in alike(row, around) if _is_priced(each, around)]
    if row not in priced or not is_row(row, tuple(priced)):
        return around
    return tuple(e for e in around if not any(each.bounds.holds(e.bounds.centre) for each in priced))


def _is_priced(row: Element, around: tuple[Element, ...]) -> bool:
    labels = [e.label for e in around if e.label and row.bounds.holds(e.bounds.centre)]
    return any(map(has_amount, labels)) and not all(map(is_amount, labels))


def message_field(spot: TouchTarget, lexicon: Lexicon, field: Element | None = None) -> Element | None:
    """Return the message field of a conversation: one that is low on the screen and not for searches. If `field` is
    given, only that one is considered.
    """
    if spot.size is None:
        return None
    low = spot.size.height * LOW_FIELD_SHARE
    fields = [field] if field is not None else [e for e in spot.around if e.editable]
    for each in fields:
        words = (each.hint, each.description, " ".join(id_words(each.resource_id)))
        if each.bounds.top >= low and not each.password and not any(lexicon.read(w).search for w in words if w):
            return each
    return None


def is_for_messages(field: Element, lexicon: Lexicon) -> bool:
    """Whether the field's words or id say that its text is a message, so that Enter sends it in many apps.

    Some phones report the hint of an empty field as its text, so a short text is checked too.
    """
    hint = field.text if len(field.text.split()) <= MAX_HINT_WORDS else ""
    read = [lexicon.read(words) for words in (field.hint, field.description, hint) if words]
    if any(each.search for each in read):
        return False
    return any(each.message for each in read) or not _COMPOSERS.isdisjoint(id_words(field.resource_id))


def form_button(spot: TouchTarget, field: Element, lexicon: Lexicon) -> Element | None:
    """Return the button that ends a field's form: the next one below it, or None. Enter in the field presses it, as in
    web pages.
    """
    words = (field.hint, field.description, " ".join(id_words(field.resource_id)))
    if spot.size is None or any(lexicon.read(each).search for each in words if each):
        return None
    box, reach = field.bounds, field.bounds.bottom + spot.size.height * FORM_SHARE
    below = [
        e
        for e in spot.around
        if is_button(e)
        and not e.editable
        and box.bottom <= e.bounds.top <= reach
        and min(box.right, e.bounds.right) > max(box.left, e.bounds.left)
    ]
    return min(below, key=lambda e: e.bounds.top, default=None)


def sends_by_place(button: Element, field: Element, spot: TouchTarget, lexicon: Lexicon) -> bool:
    """Whether the button is the icon at the end of a message field's row, and no word says that it does
    something else.
    """
    if spot.size is None or not is_button(button) or button.editable or not beside(field, button):
        return False
    if button.bounds.width > spot.size.width * ICON_SHARE:
        return False
    row = [e for e in spot.around if is_button(e) and not e.editable and beside(field, e)]
    label = button.text or button.description
    read = lexicon.read(label)
    if read.harmless or read.opens or any(sign.isdigit() for sign in label):
        return False
    if not any(e.bounds.left > button.bounds.left for e in row) and button.bounds.left >= field.bounds.left:
        return True
    turned = any(_RIGHT_TO_LEFT.search(e.label) for e in spot.around if e.label)
    return (
        turned and not any(e.bounds.left < button.bounds.left for e in row) and button.bounds.left <= field.bounds.left
    )


def is_swiped_away(spot: TouchTarget) -> bool:
    """Whether the finger swipes a list row sideways, which deletes mail, tasks and notifications."""
    start, end = spot.point, spot.end
    if start is None or end is None or spot.size is None:
        return False
    way, width = abs(end.x - start.x), spot.size.width
    if way < width * SWIPED_SHARE or abs(end.y - start.y) > way // 2:
        return False
    rows = (e for e in spot.around if is_button(e) and e.bounds.holds(start) and FULL_SHARE * width <= e.bounds.width)
    row = min(rows, key=lambda e: e.bounds.area, default=None)
    if row is None or not is_row(row, spot.around):
        return False
    return not any(e.class_name.endswith(_PAGERS) for e in spot.around)
