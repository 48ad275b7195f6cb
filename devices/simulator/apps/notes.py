"""Notes: a list, a page to write, save and delete."""

from __future__ import annotations

from functools import partial

from devices.simulator.apps.base import App, Page, bar_button, floating_button
from devices.simulator.desk import Desk
from devices.simulator.screen.pieces import Button, Gap, Label
from devices.simulator.screen.widgets import Box, Widget
from devices.simulator.state import Note


def main(desk: Desk) -> Page:
    """All notes, the newest first."""

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
            on_tap=partial(_edit, desk, note),
        )

    empty = [Box(children=[Label(desk.say("No notes yet"), 16, colour="muted", align="centre")], padding=(0, 80, 0, 0))]
    return Page(
        title=desk.say("Notes"),
        large=True,
        body=[card(note) for note in reversed(desk.state.notes)] or empty,
        floating=floating_button("plus", desk.say("New note"), "new_note", lambda: _new(desk)),
    )


def edit(desk: Desk) -> Page:
    """One note, new when it has no number."""
    number = int(desk.page.arguments.get("number", "0"))
    actions = [bar_button("trash_can_outline", desk.say("Delete"), lambda: _delete(desk, number))] if number else []
    return Page(
        title=desk.say("Note") if number else desk.say("New note"),
        on_back=desk.close_page,
        actions=actions,
        body=[
            Box(
                children=[
                    desk.field("title", "Title", plain=True, size=24),
                    Gap(4),
                    desk.field("body", "Note", plain=True, lines=8, size=17),
                ],
                padding=(20, 8, 20, 0),
            )
        ],
        bottom=Button(desk.say("Save"), lambda: _save(desk, number), "save", margin=(16, 8, 16, 12)),
    )


def _edit(desk: Desk, note: Note) -> None:
    activity = desk.open("edit", number=str(note.number))
    activity.fields = {"title": note.title, "body": note.body}


def _new(desk: Desk) -> None:
    desk.open("edit")
    desk.focus("title")


def _save(desk: Desk, number: int) -> None:
    title, body = desk.value("title").strip(), desk.value("body").strip()
    notes = desk.state.notes
    existing = next((note for note in notes if note.number == number), None)
    if existing:
        existing.title, existing.body = title, body
    elif title or body:
        notes.append(Note(max((note.number for note in notes), default=0) + 1, title, body))
    desk.close_page()


def _delete(desk: Desk, number: int) -> None:
    gone = [note for note in desk.state.notes if note.number == number]
    desk.state.deleted_notes += gone
    desk.state.notes = [note for note in desk.state.notes if note.number != number]
    desk.close_page()


APP = App(
    "notes",
    "org.example.notes",
    "org.example.notes.MainActivity",
    "Notes",
    "note_text",
    "yellow",
    {"main": main, "edit": edit},
)
