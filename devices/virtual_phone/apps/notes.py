"""The Notes app: a list of notes, and a page to write, save and delete one."""

from __future__ import annotations

from functools import partial

from devices.virtual_phone.apps.base import App, Page, bar_button, bottom_button, floating_button
from devices.virtual_phone.screen.pieces import Gap, Label
from devices.virtual_phone.screen.widgets import Box, Widget
from devices.virtual_phone.state import Note
from devices.virtual_phone.window_manager import WindowManager


def main(windows: WindowManager) -> Page:
    """Build the list of notes, the newest first."""

    def card(note: Note) -> Widget:
        return Box(
            children=[
                Label(note.title or "(no title)", 17, 500, most=1, identifier="note_title"),
                Label(note.body, 15, colour="muted", most=3, identifier="note_body"),
            ],
            gap=4,
            padding=(18, 14, 18, 16),
            margin=(16, 6, 16, 6),
            fill="surface",
            radius=18,
            on_tap=partial(_edit, windows, note),
        )

    empty = [
        Box(children=[Label(windows.say("No notes yet"), 16, colour="muted", align="centre")], padding=(0, 80, 0, 0))
    ]
    return Page(
        title=windows.say("Notes"),
        large=True,
        body=[card(note) for note in reversed(windows.state.notes)] or empty,
        floating=floating_button("plus", windows.say("New note"), "new_note", lambda: _new(windows)),
    )


def edit(windows: WindowManager) -> Page:
    """Build the page of one note; without the argument `number` it is a new one."""
    number = int(windows.page.arguments.get("number", "0"))
    actions = (
        [bar_button("trash_can_outline", windows.say("Delete"), lambda: _delete(windows, number))] if number else []
    )
    return Page(
        title=windows.say("Note") if number else windows.say("New note"),
        on_back=windows.close_page,
        actions=actions,
        body=[
            Box(
                children=[
                    windows.field("title", "Title", plain=True, size=24),
                    Gap(4),
                    windows.field("body", "Note", plain=True, lines=8, size=17),
                ],
                padding=(20, 8, 20, 0),
            )
        ],
        bottom=bottom_button(windows.say("Save"), lambda: _save(windows, number), "save"),
    )


def _edit(windows: WindowManager, note: Note) -> None:
    activity = windows.open("edit", number=str(note.number))
    activity.fields = {"title": note.title, "body": note.body}


def _new(windows: WindowManager) -> None:
    windows.open("edit")
    windows.focus("title")


def _save(windows: WindowManager, number: int) -> None:
    title, body = windows.value("title").strip(), windows.value("body").strip()
    notes = windows.state.notes
    existing = next((note for note in notes if note.number == number), None)
    if existing:
        existing.title, existing.body = title, body
    elif title or body:
        notes.append(Note(max((note.number for note in notes), default=0) + 1, title, body))
    windows.close_page()


def _delete(windows: WindowManager, number: int) -> None:
    gone = [note for note in windows.state.notes if note.number == number]
    windows.state.deleted_notes += gone
    windows.state.notes = [note for note in windows.state.notes if note.number != number]
    windows.close_page()


APP = App("notes", "org.example.notes", ".MainActivity", "Notes", "note_text", "yellow", {"main": main, "edit": edit})
