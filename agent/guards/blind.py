"""Judges presses on controls without any words, or on screens without elements. They need an approval where they may
pay or agree to something.

Only the app, the place and the elements count here. Neither typed text nor the acting model's words about the screen
make a press allowed.
"""

from __future__ import annotations

import re
from typing import Final

from agent.guards.keyboards import is_of_keyboard
from agent.guards.lexicon import Lexicon
from agent.guards.rules import Screens, fits
from agent.guards.structure import SYSTEM_UI
from agent.guards.touch_target import LARGE_SHARE, TouchTarget, Words, is_button, pressed
from devices.phone import Element

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MONEY: Final = re.compile(
    r"bank|\bpay|pay\b|wallet|checkout|purchase|billing|broker|trading|crypto|coinbase|binance|finance|transfer|invest"
    r"|remit|lucky ?money|red ?packet|hong ?bao|cashier|recharge|top ?up|deposit|withdraw|redeem"
)
"""Words in the package or activity of an app without readable elements, where nothing else says what it is for."""


def is_nameless(spot: TouchTarget, said: tuple[Words, ...]) -> bool:
    """Whether nothing says what a touch does: there are no words (`said`) and no resource id. For an element as large
    as a page, the id is ignored.
    """
    if said:
        return False
    touched = pressed(spot)
    if touched is None or not touched.resource_id:
        return True
    return touched.bounds.area > LARGE_SHARE * spot.area and not touched.editable


def tells_nothing(spot: TouchTarget) -> bool:
    """Whether the window has no elements with words, like games and custom-drawn apps. Words of Android's own bars and
    of the keyboard do not count.
    """
    said = (e for e in spot.around if e.label or e.hint)
    return all((e.package == SYSTEM_UI != spot.package) or is_of_keyboard(e, spot) for e in said)


def is_sensitive(spot: TouchTarget, screens: Screens, lexicon: Lexicon) -> bool:
    """Whether a press here may pay or agree to something, judging by the app, the words on the screen or, if there are
    none, the names of the app and its activity.
    """
    if fits(spot.package, screens.packages) or any(_shows_money(e, lexicon) for e in spot.around):
        return True
    return tells_nothing(spot) and _MONEY.search(_apart(spot.package, spot.activity)) is not None


def slides(spot: TouchTarget) -> bool:
    """Whether the finger moves more sideways than up or down, as on a slider."""
    start, end = spot.point, spot.end
    return start is not None and end is not None and abs(end.x - start.x) > abs(end.y - start.y)


def _shows_money(element: Element, lexicon: Lexicon) -> bool:
    if not element.label:
        return False
    read = lexicon.read(element.label)
    return read.money or (read.money_button and is_button(element))


def _apart(*names: str) -> str:
    """Split names into words: "PayActivity" pays, "com.display" does not."""
    return " ".join(part.lower() for name in names for part in _PARTS.findall(name))
