"""The parts of the screen around pages: status bar, navigation bar and keyboard."""

from __future__ import annotations

from datetime import datetime

from devices.geometry import Bounds, Point
from devices.virtual_phone.android import is_on
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.nodes import Fill, Glyph, Paint, Writing
from devices.virtual_phone.screen.widgets import Scale
from devices.virtual_phone.state import PhoneState

STATUS_BAR = 40
NAVIGATION_BAR = 48
KEYBOARD = 272
DIGIT_ROW = 42
DIGITS = "1234567890"
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
# config_lowBatteryWarningLevel of AOSP.
LOW_BATTERY = 15
SWITCH_ICONS = {"wifi": "wifi_strength_4", "bluetooth": "bluetooth", "do_not_disturb": "minus_circle_outline"}
BACK, HOME, RECENTS = "back", "home", "recents"
Painted = tuple[Bounds, Paint]


def status_bar(state: PhoneState, width: int, scale: Scale, now: datetime, ink: str) -> list[Painted]:
    """Return the boxes of the status bar: the clock on the left, radio and battery icons on the right."""
    size = scale.px(15)
    height = scale.px(STATUS_BAR)
    top = (height - size) // 2 - scale.px(1)
    clock = Bounds(scale.px(24), top, width, top + size * 2)
    painted: list[Painted] = [(clock, Writing((now.strftime("%H:%M"),), size, 500, ink, round(size * 1.3)))]
    names = [battery_icon(state.battery, charging=state.charging)]
    names.append("airplane" if is_on(state, "airplane") else "signal_cellular_3")
    names += [icon for switch, icon in SWITCH_ICONS.items() if is_on(state, switch)]
    right = width - scale.px(20)
    for name in names:
        painted.append((Bounds(right - scale.px(20), 0, right, height), Glyph(name, scale.px(18), ink)))
        right -= scale.px(22)
    return painted


def battery_icon(level: int, *, charging: bool) -> str:
    """Return the name of the icon for a charge in percent, rounded down to full tens but 10 at least. A nearly empty
    battery that is not charging shows a warning.
    """
    tens = max(10, level // 10 * 10)
    if charging:
        return f"battery_charging_{tens}"
    if level < LOW_BATTERY:
        return "battery_alert"
    return "battery" if tens == 100 else f"battery_{tens}"


def by_gestures(state: PhoneState) -> bool:
    """Return whether the phone is navigated by gestures instead of buttons (AOSP Settings.Secure.NAVIGATION_MODE; 2 is
    NAV_BAR_MODE_GESTURAL).
    """
    return state.settings["secure"].get("navigation_mode") == "2"


def navigation_bar(
    width: int, height: int, scale: Scale, ink: str, fill: str, *, gestures: bool = False
) -> list[Painted]:
    """Return the boxes of the three buttons, or of the handle for gestures, on a background with the colour `fill` (""
    for none).
    """
    bar = Bounds(0, height - scale.px(NAVIGATION_BAR), width, height)
    painted: list[Painted] = [(bar, Fill(fill))] if fill else []
    if gestures:
        reach, thick = scale.px(54), scale.px(4)
        low = height - scale.px(10)
        handle = Bounds(width // 2 - reach, low - thick, width // 2 + reach, low)
        return [*painted, (handle, Fill(ink, thick // 2))]
    reach = scale.px(24)
    for index, (name, size) in enumerate((("chevron_left", 32), ("circle_outline", 19), ("square_outline", 19))):
        middle = width * (index * 2 + 2) // 8
        place = Bounds(middle - reach, bar.top, middle + reach, bar.bottom)
        painted.append((place, Glyph(name, scale.px(size), ink)))
    return painted


def navigation_key(point: Point, width: int, height: int, scale: Scale) -> str:
    """Return the navigation button at a point; "" if there is none."""
    if point.y < height - scale.px(NAVIGATION_BAR):
        return ""
    return (BACK, HOME, RECENTS)[min(2, max(0, (point.x * 8 // width - 1) // 2))]


def keyboard_box(width: int, height: int, scale: Scale) -> Bounds:
    """Return the bounds of the keyboard when it is shown, down to the navigation bar. In landscape it has no row of
    digits.
    """
    bottom = height - scale.px(NAVIGATION_BAR)
    tall = KEYBOARD + (DIGIT_ROW if height > width else 0)
    return Bounds(0, max(0, bottom - scale.px(tall)), width, bottom)


def enter_key_box(width: int, height: int, scale: Scale) -> Bounds:
    """Return the bounds of the keyboard's Enter key, at the right end of its last row."""
    box, gap = keyboard_box(width, height, scale), scale.px(6)
    digits = scale.px(DIGIT_ROW) if height > width else 0
    row_height = (box.bottom - box.top - digits - scale.px(44)) // 4
    unit = (width - gap * 11) // 10 + gap
    top = box.top + scale.px(38) + digits + 3 * row_height
    return Bounds(width - 2 * unit + gap, top, width - gap, top + row_height - gap)


def keyboard(width: int, height: int, scale: Scale) -> list[Painted]:
    """Return the boxes of a picture of the keyboard."""
    box = keyboard_box(width, height, scale)
    painted: list[Painted] = [(Bounds(0, box.top, width, height), Fill("keyboard"))]
    gap = scale.px(6)
    digits = scale.px(DIGIT_ROW) if height > width else 0
    row_height = (box.bottom - box.top - digits - scale.px(44)) // 4
    key_width = (width - gap * 11) // 10
    top = box.top + scale.px(38)
    for icon, place in (("emoticon_outline", 1), ("clipboard_outline", 3), ("cog_outline", 5), ("microphone", 9)):
        middle = width * place // 10
        strip = Bounds(middle - gap, box.top, middle + gap, box.top + scale.px(38))
        painted.append((strip, Glyph(icon, scale.px(20), "muted")))
    if digits:
        left = (width - 10 * (key_width + gap) + gap) // 2
        for digit in DIGITS:
            painted += _key(Bounds(left, top, left + key_width, top + digits - gap), scale, "key", text=digit)
            left += key_width + gap
        top += digits
    for row, letters in enumerate(KEYS):
        left = (width - len(letters) * (key_width + gap) + gap) // 2
        if row == 2:
            edge = left - gap * 2
            painted += _key(
                Bounds(gap, top, edge, top + row_height - gap), scale, "key_dark", glyph="arrow_up_bold_outline"
            )
            side = Bounds(width - edge, top, width - gap, top + row_height - gap)
            painted += _key(side, scale, "key_dark", glyph="backspace_outline")
        for letter in letters:
            painted += _key(Bounds(left, top, left + key_width, top + row_height - gap), scale, "key", text=letter)
            left += key_width + gap
        top += row_height
    bottom = top + row_height - gap
    unit = key_width + gap
    painted += _key(Bounds(gap, top, gap + unit + key_width // 2, bottom), scale, "key_dark", text="?123")
    painted += _key(Bounds(gap * 2 + unit + key_width // 2, top, 3 * unit, bottom), scale, "key", text=",")
    painted += _key(Bounds(3 * unit + gap, top, width - 3 * unit - gap, bottom), scale, "key", text="English")
    painted += _key(Bounds(width - 3 * unit, top, width - 2 * unit, bottom), scale, "key", text=".")
    return painted + _key(
        enter_key_box(width, height, scale), scale, "primary", glyph="keyboard_return", ink="on_primary"
    )


def _key(box: Bounds, scale: Scale, fill: str, *, text: str = "", glyph: str = "", ink: str = "text") -> list[Painted]:
    painted: list[Painted] = [(box, Fill(fill, scale.px(7)))]
    if glyph:
        painted.append((box, Glyph(glyph, scale.px(20), ink)))
    if text:
        size = scale.px(20 if len(text) == 1 else 14)
        line = round(size * 1.3)
        if fonts.width(text, size, 400) < box.right - box.left:
            top = box.centre.y - line // 2
            room = Bounds(box.left, top, box.right, top + line)
            painted.append((room, Writing((text,), size, 400, ink, line, "centre")))
    return painted
