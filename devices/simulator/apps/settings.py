"""Settings: switches and sub-pages in one long list."""

from __future__ import annotations

from functools import partial

from devices.simulator.apps.base import App, Page, list_row, switch_row
from devices.simulator.desk import Desk
from devices.simulator.order import shuffled
from devices.simulator.screen.pieces import Label, Picture
from devices.simulator.screen.widgets import Row, Wide, Widget
from devices.simulator.toggles import BY_NAME, TOGGLES, is_on, switch

# Sub-pages: page name, title, summary, icon.
SUB_PAGES = (
    ("display", "Display", "Dark theme, rotation, brightness", "brightness_6"),
    ("notifications", "Notifications", "Notification history, conversations", "bell_outline"),
    ("storage", "Storage", "42% used - 74 GB free", "harddisk"),
    ("sound", "Sound & vibration", "Volume, ringtone", "volume_high"),
    ("about", "About phone", "Virtual Phone", "cellphone_information"),
)
DISPLAY = ("dark", "auto_rotate", "adaptive_brightness")


def main(desk: Desk) -> Page:
    """Every switch and every sub-page."""
    rows: list[Widget] = [_switch_row(desk, toggle.name) for toggle in TOGGLES]
    rows += [
        list_row(desk.say(title), subtitle=desk.say(summary), icon=icon, on_tap=partial(_open, desk, page))
        for page, title, summary, icon in SUB_PAGES
    ]
    search = Row(
        parts=[Wide(32, Picture("magnify", 24, "muted")), Label(desk.say("Search settings"), 17, colour="muted")],
        gap=8,
        padding=(18, 12, 18, 12),
        margin=(16, 4, 16, 12),
        fill="raised",
        radius=28,
        identifier="search_bar",
    )
    return Page(title=desk.say("Settings"), large=True, body=[search, *shuffled(rows, desk.state.seed, "settings")])


def display(desk: Desk) -> Page:
    """Theme, rotation and brightness."""
    return _sub_page(desk, "Display", [_switch_row(desk, name) for name in DISPLAY])


def notifications(desk: Desk) -> Page:
    """Do Not Disturb."""
    return _sub_page(desk, "Notifications", [_switch_row(desk, "do_not_disturb")])


def storage(desk: Desk) -> Page:
    """Numbers only."""
    rows = [("Apps", "31 GB"), ("Images", "12 GB"), ("System", "9.8 GB"), ("Documents", "1.2 GB")]
    return _sub_page(
        desk, "Storage", [list_row(desk.say(name), subtitle=size, icon="folder_outline") for name, size in rows]
    )


def sound(desk: Desk) -> Page:
    """Numbers only."""
    rows = [("Media volume", "60%"), ("Ring volume", "80%"), ("Phone ringtone", "Morning"), ("Vibration", "On")]
    return _sub_page(
        desk, "Sound & vibration", [list_row(desk.say(name), subtitle=desk.say(value)) for name, value in rows]
    )


def about(desk: Desk) -> Page:
    """What phone this is."""
    identity = desk.state.identity
    rows = [
        ("Device name", identity.name),
        ("Model", identity.model),
        ("Android version", identity.release),
        ("Serial number", identity.serial),
        ("Build number", "VP1A.240101.001"),
    ]
    return _sub_page(desk, "About phone", [list_row(desk.say(title), subtitle=value) for title, value in rows])


def _sub_page(desk: Desk, title: str, rows: list[Widget]) -> Page:
    return Page(title=desk.say(title), large=True, on_back=desk.close_page, body=rows)


def _switch_row(desk: Desk, name: str) -> Widget:
    toggle = BY_NAME[name]
    on = is_on(desk.state, name)
    return switch_row(
        desk.say(toggle.title),
        on=on,
        icon=toggle.icon,
        subtitle=desk.say("On") if on else desk.say("Off"),
        on_tap=lambda: switch(desk.state, name, on=not is_on(desk.state, name)),
    )


def _open(desk: Desk, page: str) -> None:
    desk.open(page)


APP = App(
    "settings",
    "com.android.settings",
    "com.android.settings.Settings",
    "Settings",
    "cog",
    "grey",
    {
        "main": main,
        "display": display,
        "notifications": notifications,
        "storage": storage,
        "sound": sound,
        "about": about,
    },
)
