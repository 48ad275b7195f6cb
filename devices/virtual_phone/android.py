"""Constants of Android (AOSP): key codes by number and name, and where the Settings app's switches are stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from devices.virtual_phone.state import PhoneState


class KeyCode(IntEnum):
    """The keys that this phone reacts to, besides those for digits and letters. The codes of other keys are accepted
    and do nothing.
    """

    HOME = 3
    BACK = 4
    DPAD_UP = 19
    DPAD_DOWN = 20
    DPAD_LEFT = 21
    DPAD_RIGHT = 22
    VOLUME_UP = 24
    VOLUME_DOWN = 25
    POWER = 26
    A = 29
    TAB = 61
    SPACE = 62
    ENTER = 66
    DEL = 67
    MENU = 82
    NOTIFICATION = 83
    SEARCH = 84
    ESCAPE = 111
    FORWARD_DEL = 112
    CTRL_LEFT = 113
    CTRL_RIGHT = 114
    MOVE_HOME = 122
    MOVE_END = 123
    APP_SWITCH = 187
    SLEEP = 223
    WAKEUP = 224


DIGIT_CODES = {code: str(code - 7) for code in range(7, 17)}
LETTER_CODES = {code: chr(ord("a") + code - 29) for code in range(29, 55)}
# KEYCODE_ names go up to this number in Android 14; a higher number is no key.
LAST_CODE = 316


def key_code(text: str) -> int | None:
    """Return the code of a key given as `66`, `ENTER` or `KEYCODE_ENTER`; None if there is no such key, or if it is
    named and this phone does not react to it.
    """
    if text.isdecimal():
        return int(text) if 0 < int(text) <= LAST_CODE else None
    name = text.upper().removeprefix("KEYCODE_")
    if name in KeyCode.__members__:
        return KeyCode[name]
    if len(name) == 1 and name.isalnum() and name.isascii():
        return ord(name) - ord("0") + 7 if name.isdigit() else ord(name) - ord("A") + 29
    return None


@dataclass(frozen=True, slots=True)
class Toggle:
    """A switch of the Settings app: its name, title and icon, and the table, key and two values of the setting behind
    it.
    """

    name: str
    title: str
    icon: str
    table: str
    key: str
    off: str = "0"
    on: str = "1"


TOGGLES = (
    Toggle("wifi", "Wi-Fi", "wifi", "global", "wifi_on"),
    Toggle("bluetooth", "Bluetooth", "bluetooth", "global", "bluetooth_on"),
    Toggle("airplane", "Aeroplane mode", "airplane", "global", "airplane_mode_on"),
    Toggle("dark", "Dark theme", "theme_light_dark", "secure", "ui_night_mode", off="1", on="2"),
    Toggle("location", "Location", "map_marker_outline", "secure", "location_mode", on="3"),
    Toggle("battery_saver", "Battery Saver", "battery_heart_variant", "global", "low_power"),
    Toggle("do_not_disturb", "Do Not Disturb", "minus_circle_outline", "global", "zen_mode"),
    Toggle("auto_rotate", "Auto-rotate screen", "screen_rotation", "system", "accelerometer_rotation"),
    Toggle("adaptive_brightness", "Adaptive brightness", "brightness_auto", "system", "screen_brightness_mode"),
)
BY_NAME = {toggle.name: toggle for toggle in TOGGLES}


def is_on(state: PhoneState, name: str) -> bool:
    """Return whether the switch with this name is on."""
    toggle = BY_NAME[name]
    return state.settings[toggle.table].get(toggle.key, toggle.off) == toggle.on


def switch(state: PhoneState, name: str, *, on: bool) -> None:
    """Turn the switch with this name on or off. Aeroplane mode also turns the radios off, as on a real phone."""
    toggle = BY_NAME[name]
    state.settings[toggle.table][toggle.key] = toggle.on if on else toggle.off
    if name == "airplane" and on:
        switch(state, "wifi", on=False)
        switch(state, "bluetooth", on=False)
