"""Pages that pick dates, times and numbers, with the look and accessibility of Android, Material Components or One UI.

Sources: AOSP `DatePickerCalendarDelegate`, `SimpleMonthView`, `TimePickerClockDelegate`, `RadialTimePickerView` and
`NumberPicker`; Material Components for Android 1.12, `datepicker` and `timepicker`; One UI by its library
(`SeslDatePicker`, `SeslTimePicker`) and by tests that name its ids (`sesl_timepicker_hour` as an
`android.widget.NumberPicker`, `sesl_date_picker_calendar_header_text`).
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from datetime import date, time
from functools import partial

from devices.virtual_phone.apps.base import Page, bar_button
from devices.virtual_phone.screen.pieces import Button, Gap, Label
from devices.virtual_phone.screen.valued import VIEW, Choice, Dial, Month, Spinner
from devices.virtual_phone.screen.widgets import Box, Row, Wide, Widget
from devices.virtual_phone.window_manager import WindowManager

FIRST_YEAR, LAST_YEAR = 1970, 2100
RADIAL = "android.widget.RadialTimePickerView$RadialPickerTouchHelper"


def date_page(windows: WindowManager, chosen: Callable[[date], None]) -> Page:
    """Build a page that picks a day; `chosen` is called with it. The page's arguments are `value`, `shown` (the month)
    and `mode`.
    """
    have = windows.page.arguments
    value = date.fromisoformat(have["value"])
    shown = date.fromisoformat(have.setdefault("shown", value.replace(day=1).isoformat()))
    mode, form = have.get("mode", "days"), windows.state.pickers

    def show(day: date) -> None:
        have["shown"] = day.replace(day=1).isoformat()
        have["mode"] = "days"

    def put(day: date) -> None:
        have["value"] = day.isoformat()
        show(day)

    def ready() -> None:
        windows.close_page()
        chosen(date.fromisoformat(have["value"]))

    def turned(months: int) -> None:
        number = shown.year * 12 + shown.month - 1 + months
        show(date(number // 12, number % 12 + 1, 1))

    def switch(to: str) -> None:
        have["mode"] = to if mode == "days" else "days"

    heads, answers = _heads(windows, value, shown, switch, turned), _answers(windows, ready)
    if mode == "years":
        name = "android:id/text1" if form == "android" else ""
        rows = [
            Box(
                children=[Label(str(year), 20, align="centre", identifier=name)],
                padding=(0, 10, 0, 10),
                on_tap=partial(put, value.replace(year=year, day=min(value.day, 28))),
            )
            for year in range(FIRST_YEAR, LAST_YEAR)
        ]
        above = max(0, value.year - FIRST_YEAR - 2)
        windows.page.scrolls.setdefault("list", above * round(46.4 * windows.state.density / 160))
        return Page(header=heads, body=rows, bottom=answers)
    if mode == "wheels":
        wheels = _date_wheels(value, put_value=lambda day: have.update(value=day.isoformat()))
        return Page(header=Box(children=[wheels], padding=(16, 40, 16, 0)), bottom=answers)
    describe: dict[str, Callable[[date], str]] = {
        "android": lambda day: day.strftime("%d %B %Y"),
        "material": lambda day: day.strftime("%A, %B ") + f"{day.day}" + ("" if day.year == 2026 else f", {day.year}"),
        "samsung": lambda day: day.strftime("%A, ") + f"{day.day} " + day.strftime("%B %Y"),
    }
    month = Month(
        first=shown,
        chosen=value,
        on_set=put,
        describe=describe[form],
        role="android.widget.TextView" if form == "material" else VIEW,
        identifier={"android": "android:id/month_view", "material": "month_grid"}.get(form, ""),
        texted=form != "samsung",
        tails=form == "samsung",
    )
    return Page(header=Box(children=[heads, month], padding=(8, 8, 8, 0)), bottom=answers)


def _heads(
    windows: WindowManager, value: date, shown: date, switch: Callable[[str], None], turned: Callable[[int], None]
) -> Widget:
    """Return what is above the days or years: buttons to change the month, and the chosen day, the month shown or
    both, as the style of the pickers has it.
    """
    form, padding = windows.state.pickers, (8, 8, 8, 8)

    def turners(before: str, after: str, previous: str = "Previous month", following: str = "Next month") -> list[Wide]:
        icons = (("chevron_left", previous, -1, before), ("chevron_right", following, 1, after))
        return [Wide(48, bar_button(icon, words, partial(turned, by), name)) for icon, words, by, name in icons]

    if form == "android":
        back, forward = turners("android:id/prev", "android:id/next")
        year = Box(
            children=[Label(str(value.year), 16, identifier="android:id/date_picker_header_year")],
            on_tap=partial(switch, "years"),
            padding=(16, 6, 16, 6),
        )
        day = Label(value.strftime("%a, %b ") + str(value.day), 30, identifier="android:id/date_picker_header_date")
        return Box(children=[year, day, Row(parts=[back, Label("", 16), forward])], padding=padding)
    if form == "material":
        words = value.strftime("%b ") + f"{value.day}, {value.year}"
        name = "month_navigation_"
        icons = turners(f"{name}previous", f"{name}next", "Change to previous month", "Change to next month")
        toggle = Button(shown.strftime("%B %Y"), partial(switch, "years"), f"{name}fragment_toggle", False)
        chosen = Label(words, 30, identifier="mtrl_picker_header_selection_text")
        return Box(children=[chosen, Row(parts=[toggle, *icons])], padding=padding)
    name = "sesl_date_picker_calendar_header_"
    back, forward = turners(f"{name}prev_button", f"{name}next_button")
    title = Button(shown.strftime("%B %Y"), partial(switch, "wheels"), f"{name}text", False)
    return Row(parts=[back, title, forward], padding=padding)


def _date_wheels(value: date, put_value: Callable[[date], None]) -> Widget:
    """Return the three wheels of One UI's date picker."""

    def put(year: int, month: int, day: int) -> None:
        put_value(date(year, month, min(day, calendar.monthrange(year, month)[1])))

    days = calendar.monthrange(value.year, value.month)[1]
    name = "sesl_date_picker_spinner_"
    return Row(
        parts=[
            Spinner(
                values=tuple(calendar.month_abbr[1:]),
                chosen=value.month - 1,
                on_set=lambda n: put(value.year, n + 1, value.day),
                identifier=f"{name}month",
            ),
            Spinner(
                values=tuple(map(str, range(1, days + 1))),
                chosen=value.day - 1,
                on_set=lambda n: put(value.year, value.month, n + 1),
                identifier=f"{name}day",
            ),
            Spinner(
                values=tuple(map(str, range(FIRST_YEAR, LAST_YEAR + 1))),
                chosen=value.year - FIRST_YEAR,
                round=False,
                on_set=lambda n: put(FIRST_YEAR + n, value.month, value.day),
                identifier=f"{name}year",
            ),
        ],
        gap=16,
    )


def time_page(windows: WindowManager, chosen: Callable[[time], None]) -> Page:
    """Build a page that picks a time; `chosen` is called with it. The page's arguments are `value` and `mode` (hours,
    minutes or text).
    """
    have, form = windows.page.arguments, windows.state.pickers
    value = time.fromisoformat(have["value"])
    mode = have.setdefault("mode", "hours")

    def put(hour: int, minute: int) -> None:
        have["value"] = time(hour % 24, minute).isoformat("minutes")

    def half(late: bool) -> None:
        put(value.hour % 12 + 12 * late, value.minute)

    def ready() -> None:
        typed = windows.value("input_hour"), windows.value("input_minute")
        if have["mode"] == "text" and all(each.isdecimal() for each in typed):
            put(int(typed[0]) % 12 + 12 * (value.hour >= 12), min(59, int(typed[1])))
        windows.close_page()
        chosen(time.fromisoformat(have["value"]))

    hour = value.hour % 12 or 12
    if form == "samsung":
        wheels = Row(
            parts=[
                Spinner(
                    values=tuple(map(str, range(1, 13))),
                    chosen=hour - 1,
                    identifier="sesl_timepicker_hour",
                    on_set=lambda n: put((n + 1) % 12 + 12 * (value.hour >= 12), value.minute),
                ),
                Spinner(
                    values=tuple(f"{n:02}" for n in range(60)),
                    chosen=value.minute,
                    identifier="sesl_timepicker_minute",
                    on_set=lambda n: put(value.hour, n),
                ),
                Spinner(
                    values=("AM", "PM"),
                    chosen=int(value.hour >= 12),
                    identifier="sesl_timepicker_ampm",
                    round=False,
                    on_set=lambda n: half(bool(n)),
                ),
            ],
            gap=16,
        )
        return Page(header=Box(children=[wheels], padding=(16, 40, 16, 0)), bottom=_answers(windows, ready))

    def on_dial(number: int) -> None:
        if mode == "hours":
            put(number % 12 + 12 * (value.hour >= 12), value.minute)
            have["mode"] = "minutes"
        else:
            put(value.hour, number)

    android, hours = form == "android", mode == "hours"
    names = ("android:id/hours", "android:id/minutes", "android:id/am_label", "android:id/pm_label")
    if not android:
        half_day = "material_clock_period_{}_button".format
        names = ("material_hour_tv", "material_minute_tv", half_day("am"), half_day("pm"))
    heads: list[Widget | Wide] = [
        Choice(str(hour) if android else f"{hour:02}", names[0], hours, partial(have.update, mode="hours")),
        Choice(f"{value.minute:02}", names[1], mode == "minutes", partial(have.update, mode="minutes")),
        Choice("AM", names[2], value.hour < 12, partial(half, False)),
        Choice("PM", names[3], value.hour >= 12, partial(half, True)),
    ]
    if mode == "text":
        heads = [windows.field("input_hour", "Hour"), windows.field("input_minute", "Minute"), *heads[2:]]
        return Page(header=Row(parts=heads, gap=8, padding=(16, 40, 16, 0)), bottom=_answers(windows, ready))

    def told(number: int) -> tuple[str, str]:
        if android:
            return "", str(number)
        return (str(number), f"{number} o'clock") if hours else (f"{number:02}", f"{number} minutes")

    dial = Dial(
        numbers=tuple(range(1, 13)) if hours else tuple(range(0, 60, 5)),
        around=12 if hours else 60,
        on_set=on_dial,
        role=RADIAL if android else "android.widget.TextView",
        identifier="android:id/radial_picker" if android else "material_clock_face",
        describe=told,
    )
    toggle = bar_button(
        "keyboard_outline",
        "Switch to text input mode for the time input.",
        partial(have.update, mode="text"),
        "android:id/toggle_mode" if android else "material_timepicker_mode_button",
    )
    parts: Sequence[Widget] = [
        Row(parts=heads, gap=8, padding=(16, 24, 16, 16)),
        dial,
        Gap(8),
        Row(parts=[Wide(48, toggle)]),
    ]
    return Page(header=Box(children=parts, padding=(16, 0, 16, 0)), bottom=_answers(windows, ready))


def number_page(windows: WindowManager, values: Sequence[str], chosen: Callable[[str], None]) -> Page:
    """Build a page that picks one of these values on a wheel; `chosen` is called with it. The page's argument is
    `value`.
    """
    have = windows.page.arguments

    def ready() -> None:
        windows.close_page()
        chosen(have["value"])

    wheel = Spinner(
        values=tuple(values),
        chosen=values.index(have["value"]),
        round=False,
        identifier="number_picker",
        on_set=lambda n: have.update(value=values[n]),
    )
    return Page(header=Box(children=[wheel], padding=(80, 40, 80, 0)), bottom=_answers(windows, ready))


def _answers(windows: WindowManager, ready: Callable[[], None]) -> Widget:
    material = windows.state.pickers == "material"
    cancel, confirm = ("cancel_button", "confirm_button") if material else ("android:id/button2", "android:id/button1")
    return Row(
        parts=[
            Button(windows.say("Cancel"), windows.close_page, cancel, filled=False),
            Button(windows.say("OK"), ready, confirm),
        ],
        gap=16,
        padding=(16, 8, 16, 8),
    )
