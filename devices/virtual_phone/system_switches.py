"""The switches of the Settings app. Each is stored where Android stores it (AOSP android.provider.Settings)."""

from __future__ import annotations

from dataclasses import dataclass

from devices.virtual_phone.state import PhoneState


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
