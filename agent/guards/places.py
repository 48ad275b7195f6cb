"""Recognises touches on rows of a list and on app icons, whose words name what they open and not what they do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from agent.guards.amounts import has_amount
from agent.guards.dialogs import is_dialog
from agent.guards.lexicon import Lexicon
from agent.guards.rules import fits
from agent.guards.touch_target import TouchTarget, Words, alike, covering, is_row, pressed
from devices.phone import Element

ROW_SHARE: Final = 0.6
"""An element narrower than this share of the screen's width is a menu entry or a button, not a row of a page."""
FULL_SHARE: Final = 0.95
"""Rows of a page are at least this share of the screen wide; buttons leave a margin."""
LOW_SHARE: Final = 0.6
"""A wide element below this share of the screen's height may be the button that ends a page."""
ICON_SHARE: Final = 0.34
"""An element of a home screen wider than this share of the screen is a menu entry, not an icon."""
_LAUNCHERS: Final = (
    *("*launcher*", "com.miui.home", "app.lawnchair*", "*.trebuchet", "com.hihonor.desktop*", "*.quickstep"),
    *("com.android.homescreen", "com.tcl.android.home*", "com.asus.zenhome"),
)
"""Package patterns of home screens; those of Google, Samsung, Huawei, Oppo and vivo contain "launcher"."""


def is_listed(spot: TouchTarget) -> bool:
    """Whether a touch goes to a row of a page's list. Rows of menus and dialogs do not count, because they
    are buttons.
    """
    touched = pressed(spot)
    return touched is not None and is_row(touched, spot.around) and _is_wide(touched, spot)


def is_of_list(spot: TouchTarget) -> bool:
    """Whether a touch goes to a row of a page that has at least one similar row."""
    touched = pressed(spot)
    return touched is not None and len(alike(touched, spot.around)) > 1 and _is_wide(touched, spot)


def place_in_few(spot: TouchTarget, lexicon: Lexicon) -> Literal["", "lone", "pair"]:
    """Classify a wide row that has only one similar row on its page ("pair") or none ("lone"); "" if it may be a
    button.

    It may be a button if the page has an amount of money, if the other row closes the page, or if it is low on the
    page, between margins, of a class that rows do not have, or has more than a title.
    """
    touched = pressed(spot)
    if touched is None or not touched.clickable or not _is_wide(touched, spot):
        return ""
    others = [e for e in alike(touched, spot.around) if e is not touched]
    labels = [e.label for e in spot.around if e.label and any(o.bounds.holds(e.bounds.centre) for o in others)]
    height = spot.size.height if spot.size is not None else max(e.bounds.bottom for e in (touched, *spot.around))
    narrow = touched.bounds.width < FULL_SHARE * _width(spot)
    drawn = narrow or touched.bounds.top >= LOW_SHARE * height or not touched.class_name.endswith("Layout")
    drawn = drawn or (not others and len(_labelled_in(touched, spot)) > 1)
    if drawn or shows_amount(spot) or any(lexicon.read(label).harmless for label in labels):
        return ""
    return "pair" if others else "lone"


def shows_amount(spot: TouchTarget) -> bool:
    """Whether the page shows an amount of money."""
    return any(has_amount(e.label) for e in spot.around if e.label)


def _is_wide(touched: Element, spot: TouchTarget) -> bool:
    """Whether the touched element is as wide as a page's rows and not a button to Android."""
    if touched.editable or covering(spot):
        return False
    wide = touched.bounds.width >= ROW_SHARE * _width(spot)
    return wide and not touched.class_name.endswith("Button") and not is_dialog(spot)


def _width(spot: TouchTarget) -> int:
    return spot.size.width if spot.size is not None else max((e.bounds.right for e in spot.around), default=0)


def is_app_icon(spot: TouchTarget) -> bool:
    """Whether a touch goes to an icon of a home screen, whose words are the name of what it opens."""
    touched = pressed(spot)
    if touched is None or spot.size is None or not fits(spot.package, _LAUNCHERS) or covering(spot):
        return False
    box = touched.bounds
    return box.width <= ICON_SHARE * spot.size.width and box.height >= box.width // 3


def titled(spot: TouchTarget, said: tuple[Words, ...]) -> tuple[Words, ...]:
    """Return the labels `said` under a finger on a row, each marked with its role: the row's own words or the first
    inside it are its title, others are further text. Words that do not belong to the row stay as they are.
    """
    row = pressed(spot)
    assert row is not None
    inside = sorted(_labelled_in(row, spot), key=lambda e: (e.bounds.top, e.bounds.left))
    title = inside[0] if inside and not row.label else row
    labels = {label for e in (row, *inside) for label in (e.text, e.description, e.hint)}
    first: Literal["title", "entry"] = "title" if shows_amount(spot) else "entry"
    return tuple(
        replace(each, place=first if each.element in (row, title) else "row")
        if each.element is row or each.element in inside
        else each
        for each in said
        if each.label in labels or each.element is not row
    )


def _labelled_in(row: Element, spot: TouchTarget) -> list[Element]:
    return [e for e in spot.around if e.label and e is not row and row.bounds.surrounds(e.bounds)]
