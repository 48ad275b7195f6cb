"""The commands `pair` and `tokens`: let people in by a pairing code, link the accounts of one person, and show and
revoke access tokens.
"""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from bot.application.access import Refused, verdict
from bot.application.people import PeopleCommands
from bot.application.services import Services
from bot.commands.request import Request, private_reply
from bot.domain.address import Person
from bot.domain.outgoing import Reply
from bot.domain.right import API_PLATFORM, OPERATOR_PLATFORMS, Right, Token
from bot.people.pairing import ALPHABET, LENGTH, Locked, Pairing
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
    return private_reply(say("link.code", code=code))


async def linked_by_code(request: Request, services: Services, code: str) -> Reply | None:
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
        linking.invalidate(code, person)
        raise Refused(say("link.seen"))
    if owner.platform == person.platform:
        raise Refused(say("link.same_platform"))
    names = {"name": owner.name or owner.id, "who": Subject.of_person(owner)}
    if not linking.confirm(code, person):
        return private_reply(say("link.confirm", **names))
    if not await services.rights.link(owner, person):
        raise Refused(say("link.already"))
    lines = [say("link.done", **names)]
    if not verdict(request, services.policy, Right.USE).allowed:
        lines.append(say("link.not_let_in", who=Subject.of_person(person)))
    return private_reply("\n".join(lines))


async def typed_by_stranger(request: Request, services: Services, text: str) -> Reply | None:
    """Handle a linking code typed in private by an account that may not use the bot, while PAIRING is on. Returns None
    in all other cases. Raises Refused.
    """
    if services.rights.pairing is None or request.stale or not request.place.private:
        return None
    if request.person.platform in OPERATOR_PLATFORMS or (found := _CODE.fullmatch(text.strip())) is None:
        return None
    reply = await linked_by_code(request, services, found["code"])
    if reply is None:
        services.rights.linking.count_wrong_code(request.person)
    return reply


async def unlink(request: Request, services: Services, subject: Subject) -> Reply:
    """Unlink this account from the person's others. Raises Refused if it is not linked."""
    others = () if subject.guild else await services.rights.unlink(subject, request.person)
    if not others:
        raise Refused(say("link.none", who=subject))
    names = listed(str(Subject.of_person(other)) for other in others)
    return private_reply(say("link.ended", who=subject, others=names))


def linked_line(request: Request, services: Services) -> str:
    """Return one line with the person's other accounts; "" if there are none, or if others could read it here."""
    others = services.policy.accounts(request.person)[1:] if _unseen(request) else ()
    names = listed(say("link.account", name=other.name or other.id, who=Subject.of_person(other)) for other in others)
    return say("link.line", accounts=names) if names else ""


def _unseen(request: Request) -> bool:
    """Whether only the person can read this: in a private chat, or where command and answer are hidden from others."""
    return request.place.private or request.message is None


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
    return private_reply(say("pair.code", code=code)) if code else None


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
                return await unlink(request, services, Subject.of_person(request.person))
            case "me":
                return give_code(request, services)
            case "" if not admin:
                return give_code(request, services)
            case typed if typed:
                if (linked := await linked_by_code(request, services, code)) is not None:
                    return linked
                if not admin:
                    services.rights.linking.count_wrong_code(request.person)
    elif code.lower() in {"me", "unlink"}:
        raise Refused(say("pair.operator"))
    commands = PeopleCommands(request, services)
    if not code:
        return private_reply(waiting_words(await commands.pairing()))
    return private_reply(paired_words(await commands.let_in(code)))


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


async def tokens(request: Request, services: Services) -> Reply:
    """Show all access tokens, or revoke one. They cannot be created here, because chats store their messages."""
    words = request.call.rest.split()
    match [word.lower() for word in words[:1]]:
        case []:
            return private_reply(token_words(services), heading=say("token.heading"))
        case ["revoke"] if len(words) == 2:
            revoked = await PeopleCommands(request, services).revoke_token(words[1])
            return private_reply(say("token.revoked", name=revoked.name))
    raise Refused(say("token.usage", prefix=request.prefix))


def token_words(services: Services) -> str:
    """Return a text with all access tokens, one per line."""
    now = services.clock()
    lines = [_line(token, now, services.zone) for token in services.rights.tokens.listed()]
    return "\n".join(lines) or say("token.none")


def _line(token: Token, now: float, zone: tzinfo) -> str:
    used = say("token.unused") if token.used is None else say("token.used", time=moment(token.used, zone))
    told = {
        "name": token.name,
        "rights": listed(sorted(token.rights)),
        "until": moment(token.expires, zone),
        "used": used,
    }
    line = say("token.line" if now < token.expires else "token.expired", **told)
    if token.owner.platform != API_PLATFORM:
        line = say("token.of", line=line, who=Subject.of_person(token.owner))
    if token.phones:
        line = say("token.phones", line=line, phones=listed(token.phones))
    return say("token.mcp", line=line) if token.approves_by_mcp else line


def moment(at: float, zone: tzinfo) -> str:
    """Format a time (Unix seconds) as lists show it, in the time zone `zone`."""
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M")
