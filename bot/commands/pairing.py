"""Pairing: the code for a stranger, and its approval by an admin."""

from __future__ import annotations

from bot.access import OPERATOR_PLATFORMS, Grant, Right
from bot.chats.base import Message, Reply
from bot.commands.request import Refused, Request, Services
from bot.people.pairing import Locked, Pairing
from bot.people.subjects import Subject
from bot.texts import say


def offer(request: Request, services: Services) -> Reply | None:
    """A code for a stranger who writes in private while PAIRING is on, else None: silence, in groups always."""
    pairing = services.rights.pairing
    if pairing is None or request.stale or not request.place.private:
        return None
    if request.person.platform in OPERATOR_PLATFORMS or request.person.platform != request.address.platform:
        return None
    code = pairing.code_for(request.person)
    return Reply(Message(body=say("pair.code", code=code), private=True)) if code else None


async def pair(request: Request, services: Services) -> Reply:
    """Let the person in to whom this code was given; without a code: who waits."""
    pairing = services.rights.pairing
    if pairing is None:
        raise Refused(say("pair.off"))
    code = request.option("code")
    if not code:
        return Reply(Message(body=_waiting(pairing), private=True))
    try:
        person = pairing.approve(code)
    except Locked:
        raise Refused(say("pair.locked")) from None
    if person is None:
        raise Refused(say("pair.wrong"))
    grant = Grant(person.platform, person.id, Right.USE)
    subject = Subject.of(grant)
    if not any(Subject.of(held) == subject and not held.phone for held in services.policy.grants):
        await services.rights.allow(grant, request.person)
    return Reply(Message(body=say("pair.done", name=person.name or person.id, who=subject), private=True))


def _waiting(pairing: Pairing) -> str:
    lines = [
        say("pair.waits", name=person.name or person.id, who=f"{person.platform}:{person.id}", minutes=int(left // 60))
        for person, left in pairing.waiting()
    ]
    return "\n".join(lines) or say("pair.nobody")
