"""Recognises controls whose effect can be undone at once, by their structure alone, so that no model need judge their
words.

That controls look alike is not enough: similar rows may do different things.
"""

from __future__ import annotations

from typing import Final

from agent.guards.pads import is_calculator_key
from agent.guards.rules import fits
from agent.guards.touch_target import TouchTarget
from devices.phone import Element

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
