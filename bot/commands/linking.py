"""Links the accounts of one person: issues codes, confirms them, and unlinks accounts."""

from __future__ import annotations

import re

from bot.application.access import Refused, verdict
from bot.application.services import Services
from bot.commands.request import Request, aside
from bot.domain.outgoing import Reply
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.people.pairing import ALPHABET, LENGTH, Locked
from bot.people.subjects import Subject
from bot.texts import listed, say

_CODE = re.compile(rf"(?:pair\s+)?(?P<code>[{ALPHABET}]{{{LENGTH}}})", re.IGNORECASE)


def give_code(request: Request, services: Services) -> Reply:
    """Reply with a code that the person types with their account on another platform to link both accounts. Raises
    Refused.
    """
    if not _unseen(request):
        raise Refused(say("link.in_private"))
    code = services.rights.linking.code_for(request.person)
    if not code:
        raise Refused(say("link.wait"))
    return aside(say("link.code", code=code))


async def typed(request: Request, services: Services, code: str) -> Reply | None:
    """Handle a code that was typed to link accounts. Returns None if there is no such code, or after too many wrong
    ones. The first time, the reply only explains what linking does and asks to type the code again. Raises Refused.
    """
    linking, person = services.rights.linking, request.person
    try:
        owner = linking.owner_of(code, person)
    except Locked:
        return None
    if owner is None:
        return None
    if not _unseen(request):
        linking.burn(code, person)
        raise Refused(say("link.seen"))
    if owner.platform == person.platform:
        raise Refused(say("link.same_platform"))
    names = {"name": owner.name or owner.id, "who": Subject.of_person(owner)}
    if not linking.confirmed(code, person):
        return aside(say("link.confirm", **names))
    if not await services.rights.link(owner, person):
        raise Refused(say("link.already"))
    lines = [say("link.done", **names)]
    if not verdict(request, services.policy, Right.USE).allowed:
        lines.append(say("link.not_let_in", who=Subject.of_person(person)))
    return aside("\n".join(lines))


async def typed_by_stranger(request: Request, services: Services, text: str) -> Reply | None:
    """Handle a linking code typed in private by an account that may not use the bot, while PAIRING is on. Returns None
    in all other cases. Raises Refused.
    """
    if services.rights.pairing is None or request.stale or not request.place.private:
        return None
    if request.person.platform in OPERATOR_PLATFORMS or (found := _CODE.fullmatch(text.strip())) is None:
        return None
    reply = await typed(request, services, found["code"])
    if reply is None:
        services.rights.linking.missed(request.person)
    return reply


async def unlink(request: Request, services: Services, subject: Subject) -> Reply:
    """Unlink this account from the person's others. Raises Refused if it is not linked."""
    others = () if subject.guild else await services.rights.unlink(subject, request.person)
    if not others:
        raise Refused(say("link.none", who=subject))
    names = listed(str(Subject.of_person(other)) for other in others)
    return aside(say("link.ended", who=subject, others=names))


def linked_line(request: Request, services: Services) -> str:
    """Return one line with the person's other accounts; "" if there are none, or if others could read it here."""
    others = services.policy.accounts(request.person)[1:] if _unseen(request) else ()
    names = listed(say("link.account", name=other.name or other.id, who=Subject.of_person(other)) for other in others)
    return say("link.line", accounts=names) if names else ""


def _unseen(request: Request) -> bool:
    """Whether only the person can read this: in a private chat, or where command and answer are hidden from others."""
    return request.place.private or request.message is None
