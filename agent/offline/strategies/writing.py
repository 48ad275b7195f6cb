"""The strategy for writing a note: begins a new one and never changes another; then title, text, and Save."""

from __future__ import annotations

from agent.actions import PressKey
from agent.offline.clauses import Open, WriteNote
from agent.offline.matching import gist
from agent.offline.page import Page
from agent.offline.strategies.looking import look_further
from agent.offline.strategies.tapping import launch_known, touched
from agent.offline.strategies.typing import field_of, fill, typed
from agent.offline.view import Act, Done, Move, View
from agent.offline.vocabulary import labels
from agent.scene import ScreenElement
from devices.inputs import Key

MAX_BACK = 3


def note_next(clause: WriteNote, view: View) -> Move:
    """Return the next move of a write-note clause: opens the app, begins a new note, writes, saves, and looks for it in
    the list.
    """
    if not view.worked("new"):
        return _begin(view)
    page = view.page
    if clause.title and not view.worked("title"):
        field = field_of(page, "title")
        if field is None or view.staged("title"):
            return view.stuck("no_such_field", name=labels().fields["title"][-1 if view.chinese else 0])
        return fill(view, field, clause.title, "title")
    if not view.worked("text"):
        field = _text_field(page)
        if field is None or view.staged("text"):
            return view.stuck("no_field")
        return fill(view, field, clause.text, "text")
    if not view.worked("save"):
        if not typed(view, clause.text, "text"):
            return view.stuck("not_typed", name=clause.text)
        return _save(view)
    kept = not page.fields and any(gist(clause.text) in gist(each.text) for each in page.named)
    return Done() if kept else view.stuck("not_saved")


def _begin(view: View) -> Move:
    button = _new_button(view.page)
    at_place = isinstance(view.before, Open) or view.worked("open")
    if button is not None and at_place and not view.staged("new"):
        return touched(view, button, stage="new")
    if not at_place or (button is None and not view.worked("open") and not view.page.fields):
        return launch_known(view, "notes")
    if view.page.fields and len(view.staged("back")) < MAX_BACK:
        # Some other note is open: leave it as it is.
        return view.act(PressKey(key=Key.BACK), "back", "going_back")
    return look_further(view, "+") or view.stuck("no_new_note")


def _save(view: View) -> Act | Move:
    button = view.page.find("save", such=view.page.tappable)
    if isinstance(button, ScreenElement):
        return view.stuck("not_saved") if view.staged("save") else touched(view, button, stage="save")
    # An app without Save stores the text when it is left.
    return view.act(PressKey(key=Key.BACK), "save", "saving")


def _new_button(page: Page) -> ScreenElement | None:
    found = page.find("new note", such=page.tappable)
    return found if isinstance(found, ScreenElement) else None


def _text_field(page: Page) -> ScreenElement | None:
    field = field_of(page, "note")
    return field or (page.fields[-1] if page.fields else None)
