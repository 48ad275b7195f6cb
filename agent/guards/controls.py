"""Recognises kinds of controls: switches, buttons that paste, controls whose effect can be undone at once, and controls
without any words.

That controls look alike is not enough: similar rows may do different things.

Only the app, the place and the elements count here. Neither typed text nor the acting model's words about the screen
make a press allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from unicodedata import normalize

from agent.guards.keys import is_calculator_key, is_of_keyboard
from agent.guards.lexicon import Lexicon
from agent.guards.rules import Screens, fits
from agent.guards.structure import SYSTEM_UI
from agent.guards.touch_target import TouchTarget, Words, beside, has_state, is_button, pressed
from devices.phone import Element


def words_of_switch(touched: Element, spot: TouchTarget) -> tuple[str, ...]:
    """Return the words in the row or line of a control with two states; none if the touch toggles nothing."""
    if not has_state(touched) and not (
        spot.has_small(touched) and any(has_state(e) and touched.bounds.holds(e.bounds.centre) for e in spot.around)
    ):
        return ()
    centre = touched.bounds.centre
    rows = [
        e for e in spot.around if is_button(e) and e is not touched and e.bounds.holds(centre) and spot.has_small(e)
    ]
    row = min(rows, key=lambda e: e.bounds.area, default=touched)
    line = [e for e in spot.around if e.label and not e.editable and row.bounds.holds(e.bounds.centre)]
    if not line or row is touched:
        line += [e for e in spot.around if e.label and not e.editable and not is_button(e) and beside(touched, e)]
    return tuple(dict.fromkeys(label for e in (touched, *line) for label in (e.text, e.description) if label))


PASTE: Final = frozenset(
    {
        *("paste", "paste as plain text", "paste without formatting", "i-paste"),
        *("粘贴", "粘贴为纯文本", "以纯文本形式粘贴", "貼上", "以純文字貼上"),
        *(
            "einfügen",
            "als klartext einfügen",
            "coller",
            "coller en texte brut",
            "pegar",
            "pegar como texto sin formato",
        ),
        *("colar", "colar como texto simples", "incolla", "incolla come testo normale", "plakken", "klistra in"),
        *("sæt ind", "indsæt", "lim inn", "liitä", "vložit", "prilepiť", "vložiť", "beillesztés", "lipiți", "inserați"),
        *("wklej", "wklej jako zwykły tekst", "вставить", "вставить как обычный текст", "вставити", "поставяне"),
        *("залепи", "налепи", "nalepi", "zalijepi", "prilepi", "įklijuoti", "ielīmēt", "kleebi", "enganxa"),
        *("επικόλληση", "yapıştır", "הדבקה", "הדבק", "لصق", "جای‌گذاری", "پیسٹ کریں", "चिपकाएं", "पेस्ट करें"),
        *("পেস্ট করুন", "ஒட்டு", "అతికించు", "貼り付け", "貼り付ける", "ペースト", "붙여넣기", "วาง", "dán"),
        *("tempel", "tampal", "bandika"),
    }
)
"""The complete captions of such buttons in Android's languages (the framework string `paste`)."""
_CAPTIONS: Final = frozenset(each.casefold() for each in PASTE)


def pastes_unknown(spot: TouchTarget, said: Iterable[Words]) -> bool:
    """Whether a touch pastes the phone's clipboard. `said` are the labels that the touch may trigger."""
    if spot.target is not None and spot.target.editable:
        return False
    # Accents are kept: without them, the Vietnamese word is the name Dan.
    return any(normalize("NFC", " ".join(each.label.split())).casefold().strip(" .…") in _CAPTIONS for each in said)


_SETTINGS: Final = ("com.android.settings", "com.samsung.android.settings")
_PAGES: Final = (
    "*.Settings",
    "*.homepage.SettingsHomepageActivity",
    "*$DisplaySettingsActivity",
    "*$DarkThemeSettingsActivity",
    "*$SoundSettingsActivity",
    "*$BluetoothSettingsActivity",
    "*$ConnectedDeviceDashboardActivity",
    "*$WifiSettings*Activity",
    "*$BatterySaverSettingsActivity",
)
"""Pages of the settings unrelated to security. A page that does not identify itself, such as `SubSettings`, may be
about anything.
"""
_SWITCHES: Final = ("Switch", "SwitchCompat", "SwitchMaterial", "ToggleButton")
_TABS: Final = ("ActionBar$Tab", "TabLayout$TabView")


def is_reversible(touched: Element, spot: TouchTarget) -> bool:
    """Whether the touched element is a switch on a plain settings page, a tab, or a calculator key."""
    return _is_tab(touched, spot) or is_calculator_key(touched, spot) or _is_plain_switch(touched, spot)


def is_settings_page(package: str, activity: str) -> bool:
    """Whether this activity is a settings page of the phone whose switches do what their titles say."""
    return fits(package, _SETTINGS) and fits(activity, _PAGES)


def _is_tab(touched: Element, spot: TouchTarget) -> bool:
    """Whether it is one of Android's own tabs, exactly one of which is selected."""
    tabs = [e for e in spot.around if e.class_name.endswith(_TABS)]
    return touched.class_name.endswith(_TABS) and len(tabs) > 1 and sum(e.selected for e in tabs) == 1


def _is_plain_switch(touched: Element, spot: TouchTarget) -> bool:
    """Whether the touch turns exactly one switch of such a page: itself, or the only one in its row."""
    package = touched.package or spot.package
    if package != spot.package or not is_settings_page(package, spot.activity):
        return False
    turned = [
        e
        for e in spot.around
        if e.checkable and e.class_name.endswith(_SWITCHES) and touched.bounds.holds(e.bounds.centre)
    ]
    return len(turned) == 1 and not touched.scrollable


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
    return not (spot.has_small(touched) or touched.editable)


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
