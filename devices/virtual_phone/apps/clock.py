"""The Clock app: the time and three alarms."""

from __future__ import annotations

from functools import partial

from devices.virtual_phone.apps.base import App, Page, section
from devices.virtual_phone.screen.pieces import Label, Switch
from devices.virtual_phone.screen.widgets import Box, Row, Wide, Widget
from devices.virtual_phone.state import Alarm
from devices.virtual_phone.window_manager import WindowManager


def main(windows: WindowManager) -> Page:
    """Build the only page: the time in large digits, and the alarms."""
    now = windows.clock()

    def row(alarm: Alarm) -> Widget:
        days = windows.say("Every day" if alarm.on else "Not scheduled")
        toggle = Switch(alarm.on, "onoff", partial(setattr, alarm, "on", not alarm.on))
        return Row(
            parts=[
                Box(
                    children=[
                        Label(alarm.time, 34, 400, "text" if alarm.on else "muted", identifier="digital_clock"),
                        Label(days, 14, colour="muted"),
                    ]
                ),
                Wide(56, toggle),
            ],
            padding=(20, 14, 20, 14),
            margin=(16, 5, 16, 5),
            fill="surface",
            radius=20,
        )

    face = Box(
        children=[
            Label(now.strftime("%H:%M"), 80, 300, align="centre", identifier="current_time"),
            Label(windows.say_date(now), 17, colour="muted", align="centre", identifier="date"),
        ],
        padding=(16, 12, 16, 8),
    )
    return Page(
        title=windows.say("Clock"),
        body=[face, section(windows.say("Alarms")), *(row(alarm) for alarm in windows.state.alarms)],
    )


APP = App("clock", "com.android.deskclock", ".DeskClock", "Clock", "clock_outline", "purple", {"main": main})
