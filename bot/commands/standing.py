"""The standing yes of a schedule: one message to one recipient that its runs may send without a question.

Only who may approve on every phone of the schedule can give it, and it holds as long as they may.
"""

from __future__ import annotations

from agent.standing_yes import MAX_NAME, StandingYes
from bot.application.access import Caller, NotAllowed, Refused, require
from bot.application.phones import open_phones, phones_named
from bot.application.services import Services
from bot.commands.request import Request
from bot.domain.right import Right
from bot.domain.schedule import Schedule
from bot.store.audit import YesDetail
from bot.tasks.input import MAX_TEXT, clean
from bot.texts import say


def wished_yes(request: Request, services: Services, device: str) -> StandingYes | None:
    """The yes that a command gives by its options, None without one. Raises Refused for half of one, and NotAllowed
    for somebody who may not approve on each of the phones that `device` names ("": that the person may use).
    """
    to, text, app = (request.option(name).strip() for name in ("allow-to", "allow-text", "allow-in"))
    if not (to or text or app):
        return None
    if not to or not text:
        raise Refused(say("schedule.yes_needs_both"))
    if len(to) > MAX_NAME or len(app) > MAX_TEXT:
        raise Refused(say("schedule.yes_long", number=MAX_NAME))
    require_to_allow_ahead(request, services, device)
    by = request.person.name or request.person.id
    return StandingYes(to=clean(to, say("schedule.yes_to")), app=app, text=clean(text, say("schedule.yes_text")), by=by)


def require_to_allow_ahead(caller: Caller, services: Services, device: str) -> None:
    """Raise NotAllowed unless the person may approve on every phone that a run may get; Refused for one unknown."""
    known = open_phones(caller, services)
    named = phones_named(device, known) if device else None
    for phone in [phone.id for phone in (known if named is None else named)] or [""]:
        require(caller, services.policy, Right.APPROVE, phone=phone)


def yes_of_now(caller: Caller, services: Services, schedule: Schedule) -> tuple[StandingYes, ...]:
    """What a run that begins now has of its schedule's yes: nothing any more when its person may not approve."""
    yes = schedule.plan.standing
    if yes is None:
        return ()
    try:
        require_to_allow_ahead(caller, services, schedule.plan.draft.device)
    except (NotAllowed, Refused):
        return ()
    return (yes,)


def yes_words(yes: StandingYes) -> str:
    """What is allowed, in one line."""
    text = " ".join((yes.text or "").split())
    if yes.app:
        return say("schedule.yes_in", to=yes.to, text=text, app=yes.app, by=yes.by)
    return say("schedule.yes", to=yes.to, text=text, by=yes.by)


def yes_detail(schedule: Schedule, yes: StandingYes) -> YesDetail:
    """What is allowed, as the audit has it."""
    return YesDetail(to=yes.to, app=yes.app, text=yes.text, by=yes.by, schedule=schedule.id)
