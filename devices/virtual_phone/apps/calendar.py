"""The Calendar app: events with pickers, chores that are selected by a long press and moved by their handles, and
sliders.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time
from functools import partial

from devices.geometry import Bounds, Point
from devices.virtual_phone.apps.base import App, Page, bar_button, floating_button, list_row, section
from devices.virtual_phone.apps.pickers import date_page, number_page, time_page
from devices.virtual_phone.screen.nodes import Node
from devices.virtual_phone.screen.pieces import Gap, Label
from devices.virtual_phone.screen.valued import Track
from devices.virtual_phone.screen.widgets import Box, Row, Scale, Wide, Widget
from devices.virtual_phone.state import Event
from devices.virtual_phone.window_manager import WindowManager

REMINDERS = tuple(str(minutes) for minutes in range(0, 61, 5))
TRASH = "drop_area"


def main(windows: WindowManager) -> Page:
    """Build the first page: all events, and buttons to the other pages."""
    rows = [
        list_row(event.title, subtitle=f"{event.day} {event.time}", identifier="event_item")
        for event in sorted(windows.state.events, key=lambda event: (event.day, event.time))
    ]
    new = partial(windows.open, "event", day=windows.clock().date().isoformat(), time="09:00", reminder="10")
    return Page(
        title=windows.say("Calendar"),
        actions=[
            bar_button("format_list_checks", windows.say("Chores"), partial(windows.open, "chores")),
            bar_button("cog", windows.say("Calendar settings"), partial(windows.open, "settings")),
        ],
        body=rows,
        floating=floating_button("plus", windows.say("New event"), "calendar_fab", new),
    )


def event(windows: WindowManager) -> Page:
    """Build the page of a new event: its title, day, time and reminder."""
    have = windows.page.arguments

    def save() -> None:
        title = windows.value("event_title")
        if title:
            windows.state.events.append(Event(title, have["day"], have["time"], int(have["reminder"])))
            windows.close_page()

    day, at = date.fromisoformat(have["day"]), time.fromisoformat(have["time"])
    shown_time = f"{at.hour % 12 or 12}:{at.minute:02} {'PM' if at.hour >= 12 else 'AM'}"
    rows = (
        ("Date", f"{day:%B} {day.day}, {day.year}", "event_start_date", "date", have["day"]),
        ("Time", shown_time, "event_start_time", "time", have["time"]),
        ("Reminder", f"{have['reminder']} minutes before", "event_reminder", "reminder", have["reminder"]),
    )
    return Page(
        title=windows.say("New event"),
        on_back=windows.close_page,
        actions=[bar_button("check", windows.say("Save"), save)],
        body=[
            Box(children=[windows.field("event_title", "Title")], padding=(16, 8, 16, 8)),
            *(
                list_row(
                    windows.say(title), subtitle=value, identifier=name, on_tap=partial(windows.open, page, value=at)
                )
                for title, value, name, page, at in rows
            ),
        ],
    )


def day_of_event(windows: WindowManager) -> Page:
    """Build the page that picks the day of a new event."""
    return date_page(windows, lambda day: windows.page.arguments.update(day=day.isoformat()))


def time_of_event(windows: WindowManager) -> Page:
    """Build the page that picks the time of a new event."""
    return time_page(windows, lambda at: windows.page.arguments.update(time=at.isoformat("minutes")))


def reminder(windows: WindowManager) -> Page:
    """Build the page that picks how many minutes before a new event its reminder is."""
    return number_page(windows, REMINDERS, lambda value: windows.page.arguments.update(reminder=value))


def settings(windows: WindowManager) -> Page:
    """Build the page with sliders: one with a percentage next to it, one with another number, one with nothing, and
    one with two thumbs.
    """
    levels = windows.state.levels

    def put(name: str, _thumb: int, value: int) -> None:
        levels[name] = value

    def put_range(thumb: int, value: int) -> None:
        if thumb == 0:
            levels["from"] = min(value, levels["to"])
        else:
            levels["to"] = max(value, levels["from"])

    def track(name: str, least: int, most: int, step: int = 1) -> Widget:
        return Track(
            values=(levels[name],),
            least=least,
            most=most,
            step=step,
            on_set=partial(put, name),
            identifier=f"{name}_bar",
        )

    def titled(title: str, value: str, bar: Widget) -> Widget:
        head: list[Widget | Wide] = [Label(windows.say(title), 16), Wide(80, Label(value, 16, align="right"))]
        return Box(children=[Row(parts=head), bar], padding=(20, 12, 20, 12))

    both = Track(
        values=(levels["from"], levels["to"]),
        least=0,
        most=100,
        step=5,
        on_set=put_range,
        identifier="hours_bar",
        names=(windows.say("Range start,"), windows.say("Range end,")),
        told=True,
    )
    return Page(
        title=windows.say("Calendar settings"),
        on_back=windows.close_page,
        body=[
            section(windows.say("Reminders")),
            titled("Reminder volume", f"{levels['volume']}%", track("volume", 0, 100)),
            Gap(40),
            titled("Daily goal", f"{levels['steps']}", track("steps", 1000, 21000, 500)),
            Gap(40),
            titled("Warmth", "", track("warmth", 0, 100)),
            Gap(40),
            titled("Busy share", "", both),
        ],
    )


def chores(windows: WindowManager) -> Page:
    """Build the page of chores: a long press starts a selection, and a row that is dragged is moved, or deleted when it
    is dropped below the list.
    """
    chosen = [each for each in windows.page.arguments.get("chosen", "").split("\n") if each]
    names = windows.state.chores

    def toggle(name: str) -> None:
        now = [each for each in chosen if each != name] if name in chosen else [*chosen, name]
        windows.page.arguments["chosen"] = "\n".join(now)

    def delete() -> None:
        names[:] = [each for each in names if each not in chosen]
        windows.page.arguments["chosen"] = ""

    def tap(name: str) -> None:
        if chosen:
            toggle(name)

    rows = [
        _Chore(
            windows,
            name,
            list_row(name, identifier="chore_item", on_tap=partial(tap, name), icon="drag_horizontal"),
            name in chosen,
            partial(toggle, name),
        )
        for name in names
    ]
    area = Box(
        children=[Label(windows.say("Drop here to delete"), 16, align="centre")],
        padding=(16, 16, 16, 16),
        fill="raised",
        identifier=TRASH,
    )
    if chosen:
        return Page(
            title=str(len(chosen)),
            on_back=partial(windows.page.arguments.update, chosen=""),
            actions=[bar_button("trash_can_outline", windows.say("Delete"), delete)],
            body=rows,
        )
    return Page(title=windows.say("Chores"), on_back=windows.close_page, body=[*rows, Gap(24), area])


@dataclass(slots=True)
class _Chore:
    """A row that is selected by a long press, and can be dragged."""

    windows: WindowManager
    name: str
    row: Widget
    chosen: bool
    on_long: partial[None]

    def measure(self, width: int, scale: Scale) -> int:
        """As `Widget` says."""
        return self.row.measure(width, scale)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """As `Widget` says."""
        node = self.row.place(box, scale)
        node.long_clickable, node.on_long, node.selected = True, self.on_long, self.chosen
        names = self.windows.state.chores

        def drop(start: Point, end: Point) -> None:
            at, high = names.index(self.name), box.bottom - box.top
            to = at + round((end.y - start.y) / high)
            names.remove(self.name)
            if to <= len(names) or end.y < box.top + (len(names) + 1 - at) * high:
                names.insert(max(0, min(to, len(names))), self.name)

        node.on_drop = drop
        return node


_PAGES = {
    "main": main,
    "event": event,
    "date": day_of_event,
    "time": time_of_event,
    "reminder": reminder,
    "settings": settings,
    "chores": chores,
}
APP = App("calendar", "org.example.calendar", ".MainActivity", "Calendar", "calendar_month", "blue", _PAGES)
