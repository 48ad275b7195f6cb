"""Looking at phones: devices and screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from bot.cards.picture import draw_screen, whole_screen
from bot.chats.outgoing import Message, Picture, Reply
from bot.commands.choose import open_phones, phone_named, require_usable, state_of
from bot.commands.request import Refused, Request, Services, may_see, plain
from bot.store.audit import AuditKind
from bot.tasks.model import Task, TaskState
from bot.tasks.wording import health_words
from bot.texts import listed, say
from devices.app_titles import readable
from devices.errors import NameTaken, NameUnfit, PhoneError
from devices.phone import Health, PhoneInfo
from devices.phone_names import LONGEST
from devices.wording import said, sentence_of

QUOTED = re.compile(r"""(["'])(?P<phone>[^"']+)\1\s+(?P<rest>.+)""", re.DOTALL)
"""A phone's name in quotes, and what follows."""


async def devices(request: Request, services: Services) -> Reply:
    """Every phone with its state, what it shows, and who uses it."""
    await services.phones.refresh()
    phones = open_phones(request, services)
    if not phones:
        return plain(say("phone.none"))
    active = await services.desk.active()
    return plain("\n".join(_lines(phone, active) for phone in phones), heading=say("devices.heading"))


async def screen(request: Request, services: Services) -> Reply:
    """A screenshot, now. A secure screen cannot be shown, and that is told.

    What a phone shows while it works for somebody in private is shown where that task may be shown.
    """
    info = await phone_meant(request, services)
    require_usable(info)
    used = await user_of(info, services)
    if used is not None and not may_see(request, services.policy, used):
        raise Refused(say("screen.private", name=info.name))
    try:
        seen = await services.phones.get(info.id).observe()
    except PhoneError as error:
        raise Refused(say("screen.failed", name=info.name, why=said(sentence_of(error)))) from error
    if seen.image is None or seen.secure:
        raise Refused(say("screen.secure", name=info.name))
    words = [seen.app_name or readable(seen.package), say("screen.locked") if seen.locked else ""]
    message = Message(heading=info.name, body=" · ".join(word for word in words if word))
    if request.flag("full"):
        file = Picture("screen.png", await asyncio.to_thread(whole_screen, seen.image))
        return Reply(replace(message, files=(file,)))
    picture = Picture("screen.jpg", await asyncio.to_thread(draw_screen, seen.image))
    return Reply(replace(message, picture=picture))


async def user_of(phone: PhoneInfo, services: Services) -> Task | None:
    """The task that works on this phone now."""
    for task in await services.desk.active():
        if task.phone == phone.id and task.state is not TaskState.QUEUED:
            return task
    return None


async def name(request: Request, services: Services) -> Reply:
    """Calls a phone something else: `name --device Pixel Desk`, or `name Pixel Desk`."""
    info, wish = _renamed(request, services.phones.list())
    if not wish:
        raise Refused(say("name.missing", name=info.name))
    try:
        named = await services.phones.rename(info.id, wish)
    except NameTaken as taken:
        raise Refused(say("name.taken", name=wish[:LONGEST])) from taken
    except NameUnfit as unfit:
        raise Refused(say("name.unfit", longest=LONGEST)) from unfit
    await services.store.audit.note(AuditKind.NAMED, request.person, detail=f"{info.id} {info.name} → {named.name}")
    return plain(say("name.done", old=info.name, new=named.name))


def _renamed(request: Request, phones: Sequence[PhoneInfo]) -> tuple[PhoneInfo, str]:
    """The phone and its new name. What is typed plainly begins with the phone; the longest fitting name is meant."""
    text = request.call.rest.strip()
    if wished := request.option("device"):
        return phone_named(wished, phones), text
    if not text:
        raise Refused(say("name.which", example=f"{request.prefix}{say('command.name.example')}"))
    quoted = QUOTED.match(text)
    if quoted is not None:
        return phone_named(quoted["phone"], phones), quoted["rest"].strip()
    called = {word.casefold(): word for phone in phones for word in (phone.name, phone.id, phone.serial)}
    folded = f"{text.casefold()} "
    found = max((word for word in called if folded.startswith(f"{word} ")), key=len, default="")
    if not found:
        return phone_named(text.partition(" ")[0], phones), text.partition(" ")[2].strip()
    return phone_named(called[found], phones), text[len(found) :].strip()


async def phone_meant(request: Request, services: Services) -> PhoneInfo:
    """The phone that the option `device` names, else the only one, else the one of this person's task here.

    Raises Refused when that is not clear, or it may not be used here.
    """
    phones = open_phones(request, services)
    if wished := request.option("device"):
        return phone_named(wished, phones)
    if not phones:
        raise Refused(say("phone.none"))
    if len(phones) == 1:
        return phones[0]
    task = await services.desk.latest_for(services.policy.accounts(request.person), request.address)
    used = next((phone for phone in phones if task is not None and phone.id == task.phone), None)
    if used is None:
        raise Refused(say("screen.which", names=listed(phone.name for phone in phones)))
    return used


def _lines(phone: PhoneInfo, active: tuple[Task, ...]) -> str:
    facts = [
        phone.model if phone.model != phone.name else "",
        say("devices.android", version=phone.android) if phone.android else "",
        say("devices.battery", percent=phone.battery) if phone.battery is not None else "",
        say("devices.virtual") if phone.virtual else "",
        say("devices.app", app=phone.app_name or readable(phone.app)) if phone.app else "",
    ]
    state = health_words(phone.health) if phone.health is Health.READY else state_of(phone)
    first = say("devices.line", name=phone.name, id=phone.id, state=state)
    mine = [task for task in active if task.phone == phone.id]
    user = next((task for task in mine if task.state is not TaskState.QUEUED), None)
    waiting = sum(task.state is TaskState.QUEUED for task in mine)
    if user is not None:
        facts.append(say("devices.used", task=user.called, person=user.person.name or user.person.id))
    if waiting:
        facts.append(say("devices.waiting", number=waiting))
    second = " · ".join(fact for fact in facts if fact)
    return f"{first}\n  {second}" if second else first
