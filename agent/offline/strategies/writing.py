"""The strategies for writing to be kept or sent: a new note, and a message to exactly the named person with exactly the
text.
"""

from __future__ import annotations

from agent.actions import PressKey
from agent.offline.clauses import Open, SendMessage, WriteNote
from agent.offline.matching import folded, gist
from agent.offline.strategies.tapping import launch_known, look_further, touched
from agent.offline.strategies.typing import field_of, fill, typed
from agent.offline.view import Act, Done, Move, Page, View
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
        field = field_of(page, "note") or (page.fields[-1] if page.fields else None)
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
    button = view.page.button("new note")
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
    if (button := view.page.button("save")) is not None:
        return view.stuck("not_saved") if view.staged("save") else touched(view, button, stage="save")
    # An app without Save stores the text when it is left.
    return view.act(PressKey(key=Key.BACK), "save", "saving")


def message_next(clause: SendMessage, view: View) -> Move:
    """Return the next move of a send-message clause. The message is only sent once the person's name and the text are
    on the screen.
    """
    if view.worked("send"):
        return Done() if _sent(view.page, clause.text) else view.stuck("not_sent")
    if view.staged("send"):
        return view.stuck("not_sent")
    if not isinstance(view.before, Open) and not view.worked("open"):
        return launch_known(view, "messages")
    composer = _composer(view.page)
    if composer is None:
        return _find_person(clause, view)
    recipient = field_of(view.page, "recipient")
    if recipient is not None and not view.worked("to"):
        return fill(view, recipient, clause.to, "to")
    if not _is_person(view.page, clause.to):
        if len(view.staged("back")) >= MAX_BACK:
            return view.stuck("no_new_message", name=clause.to)
        return view.act(PressKey(key=Key.BACK), "back", "going_back")
    if not _has(composer, clause.text):
        if view.staged("text"):
            return view.stuck("not_typed", name=clause.text)
        return fill(view, composer, clause.text, "text", clear=True)
    button = view.page.button("send")
    if button is None:
        return view.stuck("not_sent")
    touch = touched(view, button, stage="send")
    return Act(touch.action, touch.stage, view.words("sending", name=clause.to))


def _find_person(clause: SendMessage, view: View) -> Move:
    """Return the move that opens the conversation with exactly this name or, if there is none, begins a new message."""
    page = view.page
    row = next((row for row in page.rows if folded(row.title.text) == folded(clause.to)), None)
    if row is not None and len(view.staged("tap")) < MAX_BACK:
        return touched(view, row.title)
    new = page.button("new message")
    if new is not None and not view.staged("new"):
        return look_further(view, clause.to) or touched(view, new, stage="new")
    if not view.worked("open") and not page.fields:
        return launch_known(view, "messages")
    return view.stuck("no_new_message", name=clause.to)


def _is_person(page: Page, name: str) -> bool:
    """Whether the title bar or a field other than the last one names the person. A conversation does not count."""
    return any(folded(each.text) == folded(name) for each in (*page.heading, *page.fields[:-1]))


def _composer(page: Page) -> ScreenElement | None:
    """Return the field for the message: by its hint or, if a draft hides that, the last field of a page that
    can send.
    """
    if (field := field_of(page, "message")) is not None:
        return field
    return page.fields[-1] if page.fields and page.button("send") is not None else None


def _has(field: ScreenElement, text: str) -> bool:
    return gist(text) == gist(field.text)


def _sent(page: Page, text: str) -> bool:
    """Whether the text is on the page as a message, and in no field any more."""
    if any(_has(field, text) for field in page.fields):
        return False
    return any(gist(each.text) == gist(text) for each in page.named if each.role != "field")
