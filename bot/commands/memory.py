"""Commands for the facts that the service remembers about a person: store, list and delete them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from agent.ports.memory import MAX_FACT, MAX_FACTS, Fact, MemoryFull
from bot.application.access import Refused
from bot.application.phones import phones_meant
from bot.application.services import Services
from bot.commands.request import Request, private_reply, refuse_stale
from bot.domain.outgoing import Reply
from bot.people.subjects import Subject
from bot.texts import counted, listed, say

SHOWN: Final = 40
"""Maximum facts listed when one has to be chosen."""
_ALL: Final = frozenset({"all", "everything", "全部", "所有"})


async def remember(request: Request, services: Services) -> Reply:
    """Store a fact. If a phone is named, the fact applies to that phone only."""
    refuse_stale(request)
    text = " ".join(request.call.rest.split())
    if not text or len(text) > MAX_FACT:
        raise Refused(say("memory.no_fact", limit=MAX_FACT))
    phone = ""
    if request.option("device"):
        meant = phones_meant(request, request.option("device"), services)
        if len(meant.phones) != 1:
            raise Refused(say("memory.one_phone"))
        phone = meant.phones[0].id
    try:
        fact = await services.memory.remember(_subject(request), text, phone=phone)
    except MemoryFull:
        raise Refused(say("memory.full", limit=MAX_FACTS)) from None
    return private_reply(say("memory.kept", fact=_line(fact, services)))


async def memories(request: Request, services: Services) -> Reply:
    """List all facts about the person, in a reply that only they can read."""
    if not (request.place.private or request.picked):
        raise Refused(say("memory.in_private"))
    facts = await services.memory.all(_subject(request))
    if not facts:
        return private_reply(say("memory.none"))
    lines = [_line(fact, services) for fact in facts]
    return private_reply("\n".join(lines), heading=say("memory.heading", facts=counted("fact", len(facts))))


async def forget(request: Request, services: Services) -> Reply:
    """Delete facts: the one with this number, all of them, or the one that contains these words. If several contain
    them, none is deleted: Refused is raised, which lists them (in a group, it only says how many there are).
    """
    refuse_stale(request)
    wanted = request.call.rest.strip()
    facts = await services.memory.all(_subject(request))
    meant = _meant(wanted, facts)
    if not wanted or not meant:
        raise Refused(say("memory.unknown", name=wanted[:40]))
    if len(meant) > 1 and wanted.casefold() not in _ALL:
        if not (request.place.private or request.picked):
            raise Refused(say("memory.several_here", number=len(meant)))
        lines = "\n".join(_line(fact, services) for fact in meant[:SHOWN])
        raise Refused(f"{say('memory.several')}\n{lines}")
    gone = await services.memory.forget(_subject(request), [fact.id for fact in meant])
    return private_reply(f"{say('memory.forgotten', facts=counted('fact', len(gone)))}\n{say('memory.elsewhere')}")


def _meant(wanted: str, facts: Sequence[Fact]) -> list[Fact]:
    if wanted.casefold() in _ALL:
        return list(facts)
    number = wanted.removeprefix("#")
    if number.isascii() and number.isdigit():
        return [fact for fact in facts if str(fact.id) == number]
    words = wanted.casefold().split()
    return [fact for fact in facts if all(word in fact.text.casefold() for word in words)]


def _subject(request: Request) -> str:
    return str(Subject.of_person(request.person))


def _line(fact: Fact, services: Services) -> str:
    names = {phone.id: phone.name for phone in services.phones.list()}
    day = f"{datetime.fromtimestamp(fact.created, services.zone):%Y-%m-%d}"
    about = [say(f"memory.source.{fact.source}"), day]
    if fact.phone:
        about.append(say("memory.only_for", phone=names.get(fact.phone, fact.phone)))
    return f"#{fact.id} {fact.text} ({listed(about)})"
