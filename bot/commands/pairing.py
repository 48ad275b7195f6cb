"""Pairing: a person who may not use the bot yet gets a code, and an admin lets them in by it. Also links accounts."""

from __future__ import annotations

from bot.application.access import Refused, verdict
from bot.application.people import PeopleCommands
from bot.application.services import Services
from bot.commands import linking
from bot.commands.request import Request, aside
from bot.domain.address import Person
from bot.domain.outgoing import Reply
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.people.pairing import Pairing
from bot.people.subjects import Subject
from bot.texts import say


def offer(request: Request, services: Services) -> Reply | None:
    """Reply with a pairing code to an unknown person who writes in private while PAIRING is on. Returns None otherwise,
    for a message that came late, and if no code can be given now, because too many people wait or this person got one a
    moment ago.
    """
    pairing = services.rights.pairing
    if pairing is None or request.stale or not request.place.private:
        return None
    if request.person.platform in OPERATOR_PLATFORMS or request.person.platform != request.address.platform:
        return None
    code = pairing.code_for(request.person)
    return aside(say("pair.code", code=code)) if code else None


async def pair(request: Request, services: Services) -> Reply:
    """Link the person's account by a code from another account, or (admins only) let in the person who was shown this
    pairing code. Without a code, admins see who is waiting; others get a code to link their accounts. The words `me`
    and `unlink` in place of the code ask for such a code and end the link. Raises Refused.
    """
    code = request.option("code")
    if request.person.platform not in OPERATOR_PLATFORMS:
        admin = verdict(request, services.policy, Right.ADMIN).allowed
        match code.lower():
            case "unlink":
                return await linking.unlink(request, services, Subject.of_person(request.person))
            case "me":
                return linking.give_code(request, services)
            case "" if not admin:
                return linking.give_code(request, services)
            case typed if typed:
                if (linked := await linking.typed(request, services, code)) is not None:
                    return linked
                if not admin:
                    services.rights.linking.missed(request.person)
    elif code.lower() in {"me", "unlink"}:
        raise Refused(say("pair.operator"))
    commands = PeopleCommands(request, services)
    if not code:
        return aside(waiting_words(await commands.pairing()))
    return aside(paired_words(await commands.let_in(code)))


def paired_words(person: Person) -> str:
    """Return a sentence that says that this person may now use the bot."""
    return say("pair.done", name=person.name or person.id, who=Subject.of_person(person))


def waiting_words(pairing: Pairing) -> str:
    """Return a text with the people who wait to be let in, one per line."""
    lines = [
        say("pair.waits", name=person.name or person.id, who=f"{person.platform}:{person.id}", minutes=int(left // 60))
        for person, left in pairing.waiting()
    ]
    return "\n".join(lines) or say("pair.nobody")
