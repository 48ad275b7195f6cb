"""Rights while the service runs: who has which, and giving and taking them. For admins only."""

from __future__ import annotations

from bot.access import Grant, Lists, Right
from bot.chats.outgoing import Reply
from bot.commands import linking, tiering
from bot.commands.choose import phone_named
from bot.commands.request import Refused, Request, Services, aside
from bot.commands.tiering import subject_meant
from bot.people.subjects import Subject
from bot.texts import listed, say

LISTED = 100
"""Rights that one answer lists."""


async def people(request: Request, services: Services) -> Reply:
    """Show all rights, or change one: `allow WHO [RIGHT]`, `deny WHO`, for one phone with `--device`; tiers, links."""
    words = request.call.rest.split()
    match [word.lower() for word in words[:1]]:
        case []:
            return _shown(services)
        case ["allow"] if len(words) in {2, 3}:
            return await _allow(request, services, words[1], words[2] if len(words) > 2 else Right.USE.value)
        case ["deny"] if len(words) == 2:
            return await _deny(request, services, words[1])
        case ["unlink"] if len(words) == 2:
            return await linking.unlink(request, services, subject_meant(request, words[1]))
        case ["tier"] if len(words) in {1, 3}:
            return await tiering.tier(request, services, *words[1:])
    raise Refused(say("people.usage", prefix=request.prefix))


async def _allow(request: Request, services: Services, who: str, wanted: str) -> Reply:
    subject = subject_meant(request, who)
    right = next((right for right in Right if right.value == wanted.lower()), None)
    if right is None:
        raise Refused(say("people.no_right", name=wanted[:40]))
    grant = Grant(subject.platform, subject.id, right, guild=subject.guild, phone=_phone(request, services))
    await services.rights.allow(grant, request.person)
    return aside(say("people.allowed", grant=_line(grant)))


async def _deny(request: Request, services: Services, who: str) -> Reply:
    subject = subject_meant(request, who)
    # A phone that is not there any more is still named by its id.
    wished = request.option("device")
    known = any(grant.phone == wished for grant in services.policy.grants)
    phone = wished if known else _phone(request, services)
    taken = await services.rights.deny(subject, request.person, phone)
    lines = [say("people.denied", grant=_line(grant)) for grant in taken] or [say("people.had_none", who=subject)]
    if not phone and not subject.guild and (others := await services.rights.unlink(subject, request.person)):
        # Else the rights of the other accounts would let this one in all the same.
        names = listed(str(Subject.of_person(other)) for other in others)
        lines.append(say("link.ended", who=subject, others=names))
    lists = services.policy.platforms.get(subject.platform, Lists())
    if not subject.guild and subject.id in lists.users | lists.admins:
        lines.append(say("people.listed_still", who=subject))
    return aside("\n".join(lines))


def _phone(request: Request, services: Services) -> str:
    wished = request.option("device")
    return phone_named(wished, services.phones.list()).id if wished else ""


def _shown(services: Services) -> Reply:
    lines = []
    for platform, lists in services.policy.platforms.items():
        lines += [say("people.from_lists", who=f"{platform}:{one}", right=Right.ADMIN) for one in sorted(lists.admins)]
        users = sorted(lists.users - lists.admins)
        lines += [say("people.from_lists", who=f"{platform}:{one}", right=Right.APPROVE) for one in users]
    lines += [_line(grant) for grant in services.policy.grants]
    lines += [
        say("link.listed", accounts=" = ".join(map(str, map(Subject.of_person, one)))) for one in services.policy.links
    ]
    lines += [tiering.line(gift) for gift in services.policy.tiers]
    if len(lines) > LISTED:
        lines = [*lines[:LISTED], say("people.more", number=len(lines) - LISTED)]
    return aside("\n".join(lines) or say("people.none"), heading=say("people.heading"))


def _line(grant: Grant) -> str:
    who = Subject.of(grant)
    if grant.phone:
        return say("people.grant_phone", who=who, right=grant.right, phone=grant.phone)
    return say("people.grant", who=who, right=grant.right)
