"""Reads and shows the standing approval of a schedule: one message to one recipient that its runs may send without
asking.

Only a person who may approve on every phone of the schedule can give it, and it is valid only as long as they may.
"""

from __future__ import annotations

from agent.questions import MAX_NAME, StandingYes
from bot.application.access import Refused
from bot.commands.request import Request
from bot.tasks.input import MAX_TEXT, clean
from bot.texts import say


def wished_yes(request: Request) -> StandingYes | None:
    """Return the standing approval that a command's options describe; None if there is none. Raises Refused if it is
    incomplete or names too long a recipient or app, and BadText for too long a text.
    """
    to, text, app = (request.option(name).strip() for name in ("allow-to", "allow-text", "allow-in"))
    if not (to or text or app):
        return None
    if not to or not text:
        raise Refused(say("schedule.yes_needs_both"))
    if len(to) > MAX_NAME or len(app) > MAX_TEXT:
        raise Refused(say("schedule.yes_long", number=MAX_NAME))
    by = request.person.name or request.person.id
    return StandingYes(to=clean(to, say("schedule.yes_to")), app=app, text=clean(text, say("schedule.yes_text")), by=by)


def yes_words(yes: StandingYes) -> str:
    """Return one line that describes the standing approval."""
    text = " ".join((yes.text or "").split())
    if yes.app:
        return say("schedule.yes_in", to=yes.to, text=text, app=yes.app, by=yes.by)
    return say("schedule.yes", to=yes.to, text=text, by=yes.by)
