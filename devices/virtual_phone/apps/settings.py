"""The Settings app: switches and sub-pages in one long list."""

from __future__ import annotations

from functools import partial

from devices.virtual_phone.android import BY_NAME, TOGGLES, is_on, switch
from devices.virtual_phone.apps.base import App, Page, list_row, shuffled
from devices.virtual_phone.screen.pieces import Label, Picture, Switch
from devices.virtual_phone.screen.widgets import Row, Wide, Widget
from devices.virtual_phone.window_manager import WindowManager

# Sub-pages: page name, title, summary, icon.
SUB_PAGES = (
    ("display", "Display", "Dark theme, rotation, brightness", "brightness_6"),
    ("notifications", "Notifications", "Notification history, conversations", "bell_outline"),
    ("storage", "Storage", "42% used - 74 GB free", "harddisk"),
    ("sound", "Sound & vibration", "Volume, ringtone", "volume_high"),
    ("about", "About phone", "Virtual Phone", "cellphone_information"),
)
DISPLAY = ("dark", "auto_rotate", "adaptive_brightness")


def main(windows: WindowManager) -> Page:
    """Build the first page: every switch and every sub-page."""
    rows: list[Widget] = [_switch_row(windows, toggle.name) for toggle in TOGGLES]
    rows += [
        list_row(windows.say(title), subtitle=windows.say(summary), icon=icon, on_tap=partial(windows.open, page))
        for page, title, summary, icon in SUB_PAGES
    ]
    search = Row(
        parts=[Wide(32, Picture("magnify", 24, "muted")), Label(windows.say("Search settings"), 17, colour="muted")],
        gap=8,
        padding=(18, 12, 18, 12),
        margin=(16, 4, 16, 12),
        fill="raised",
        radius=28,
        identifier="search_bar",
    )
    return Page(
        title=windows.say("Settings"), large=True, body=[search, *shuffled(rows, windows.state.seed, "settings")]
    )


def display(windows: WindowManager) -> Page:
    """Build the page with the switches for theme, rotation and brightness."""
    return _sub_page(windows, "Display", [_switch_row(windows, name) for name in DISPLAY])


def notifications(windows: WindowManager) -> Page:
    """Build the page with the switch Do Not Disturb."""
    return _sub_page(windows, "Notifications", [_switch_row(windows, "do_not_disturb")])


def storage(windows: WindowManager) -> Page:
    """Build the page about storage, which only shows numbers."""
    rows = [("Apps", "31 GB"), ("Images", "12 GB"), ("System", "9.8 GB"), ("Documents", "1.2 GB")]
    return _sub_page(
        windows, "Storage", [list_row(windows.say(name), subtitle=size, icon="folder_outline") for name, size in rows]
    )


def sound(windows: WindowManager) -> Page:
    """Build the page about sound, which only shows values."""
    rows = [("Media volume", "60%"), ("Ring volume", "80%"), ("Phone ringtone", "Morning"), ("Vibration", "On")]
    return _sub_page(
        windows, "Sound & vibration", [list_row(windows.say(name), subtitle=windows.say(value)) for name, value in rows]
    )


def about(windows: WindowManager) -> Page:
    """Build the page about the phone: its name, model, Android version and serial number."""
    identity = windows.state.identity
    rows = [
        ("Device name", identity.name),
        ("Model", identity.model),
        ("Android version", identity.release),
        ("Serial number", identity.serial),
        ("Build number", "VP1A.240101.001"),
    ]
    return _sub_page(windows, "About phone", [list_row(windows.say(title), subtitle=value) for title, value in rows])


def _sub_page(windows: WindowManager, title: str, rows: list[Widget]) -> Page:
    return Page(title=windows.say(title), large=True, on_back=windows.close_page, body=rows)


def _switch_row(windows: WindowManager, name: str) -> Widget:
    toggle = BY_NAME[name]
    on = is_on(windows.state, name)
    return list_row(
        windows.say(toggle.title),
        trailing=Switch(on),
        icon=toggle.icon,
        subtitle=windows.say("On") if on else windows.say("Off"),
        on_tap=lambda: switch(windows.state, name, on=not is_on(windows.state, name)),
    )


_PAGES = {
    "main": main,
    "display": display,
    "notifications": notifications,
    "storage": storage,
    "sound": sound,
    "about": about,
}
APP = App("settings", "com.android.settings", ".Settings", "Settings", "cog", "grey", _PAGES)
