"""Recognises number pads on the screen, and whether their digits enter an amount to pay or a PIN."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from agent.guards.amounts import has_amount
from agent.guards.keyboards import is_of_keyboard
from agent.guards.lexicon import Lexicon
from agent.guards.rules import RuleName
from agent.guards.touch_target import TouchTarget, is_button, pressed
from agent.guards.words import id_words
from devices.phone import Element

MIN_DIGITS: Final = 9
"""A number pad has at least this many different digits; one of the ten may be hidden or unreadable."""
MIN_OPERATORS: Final = 3
"""A calculator has at least this many operators, including "="."""
KEY_SHARE: Final = 0.08
"""An element larger than this share of the screen is not a key."""
MAX_KEY_LABEL: Final = 16
"""The maximum letters on a key: "5, JKL", "Ziffer 5"."""
_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_OPERATORS: Final = {
    **dict.fromkeys(("+", "plus", "add"), "+"),
    **dict.fromkeys(("-", "−", "–", "minus", "sub", "subtract"), "-"),
    **dict.fromkeys(("×", "x", "✕", "mul", "multiply", "times"), "×"),
    **dict.fromkeys(("÷", "/", "∕", "div", "divide"), "÷"),
    **dict.fromkeys(("=", "eq", "equal", "equals"), "="),
}


def entered(spot: TouchTarget, fields: Iterable[Element], lexicon: Lexicon) -> RuleName | None:
    """Return the rule for what the digit under the finger enters: an amount to pay or a secret. None if it is not a key
    of a number pad, or if nothing on the screen says what it enters. Amounts say nothing at a calculator, a dialer or a
    keyboard.

    `fields` are the secret fields on the screen.
    """
    touched = pressed(spot)
    if touched is None or touched.editable or _digit(touched, spot.around) is None:
        return None
    most = spot.area * KEY_SHARE
    keys = [e for e in spot.around if e.bounds.area <= most and not e.editable and (e.label or e.resource_id)]
    digits = {id(e): digit for e in keys if (digit := _digit(e, spot.around)) is not None}
    if len(set(digits.values())) < MIN_DIGITS or any(map(_is_larger_number, keys)):
        return None
    told = [e for e in spot.around if id(e) not in digits and not e.editable]
    labels = [label for e in told for label in (e.text, e.description) if label]
    secret = any(fields) or any(lexicon.read(label).secret for label in labels)
    signs = {sign for e in keys if (sign := _operator(e))}
    dials = {"*", "#"} <= {label.strip() for label in labels}
    reckons = "=" in signs or len(signs) > 1
    shown = [*labels, *(e.text for e in spot.around if e.editable)]
    if not (dials or reckons or is_of_keyboard(touched, spot)) and any(map(has_amount, shown)):
        return RuleName.PAY
    return RuleName.ACCOUNT if secret else None


def is_calculator_key(touched: Element, spot: TouchTarget) -> bool:
    """Whether this is a digit or operator of a calculator: a pad with all digits, "=" and other operators."""
    most = spot.area * KEY_SHARE
    keys = [e for e in spot.around if e.bounds.area <= most and not e.editable and (e.label or e.resource_id)]
    digits = {digit for e in keys if (digit := _digit(e, spot.around)) is not None}
    signs = {sign for e in keys if is_button(e) and (sign := _operator(e))}
    if len(digits) < MIN_DIGITS or "=" not in signs or len(signs) < MIN_OPERATORS:
        return False
    own = _digit(touched, spot.around) is not None or bool(_operator(touched))
    return own and is_button(touched) and not touched.editable and touched.bounds.area <= most


def _digit(element: Element, around: tuple[Element, ...]) -> int | None:
    """Return the digit of a key by its words, the words inside it, or its id."""
    label = element.text or element.description
    if not label and is_button(element):
        inside = (e.text for e in around if e.text and e is not element and element.bounds.holds(e.bounds.centre))
        label = next(inside, "")
    label = label.strip()
    if label:
        return _read(label)
    parts = [part for part in id_words(element.resource_id) if part in _WORDS or part.isdigit()]
    if len(parts) != 1 or (parts[0].isdigit() and len(parts[0]) > 1):
        return None
    return int(parts[0]) if parts[0].isdigit() else _WORDS.index(parts[0])


def _read(label: str) -> int | None:
    if len(label) == 1:
        value = unicodedata.numeric(label, -1.0)
        return int(value) if value in range(10) else None
    digits = [sign for sign in label if sign.isdecimal()]
    if len(digits) != 1 or len(label) > MAX_KEY_LABEL:
        return None
    return unicodedata.decimal(digits[0])


def _is_larger_number(element: Element) -> bool:
    """Whether it is a day or page number: pads have no key for ten, only for "00"."""
    return len(element.text) > 1 and element.text.isdecimal() and int(element.text) > 0 and is_button(element)


def _operator(element: Element) -> str:
    label = (element.text or element.description).strip().casefold()
    parts = (label,) if label else id_words(element.resource_id)
    return next((sign for part in parts if (sign := _OPERATORS.get(part))), "")
