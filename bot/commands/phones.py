"""Looking at phones: devices and screen."""

from __future__ import annotations

import asyncio

from bot.cards.picture import draw_screen
from bot.chats.base import Message, Picture, Reply
from bot.commands.choose import phone_named, require_usable, state_of
from bot.commands.request import Refused, Request, Services, plain
from bot.tasks.model import Task, TaskState
from bot.texts import say
from devices.errors import PhoneError
from devices.phone import Health, PhoneInfo


async def devices(request: Request, services: Services) -> Reply:
    """Every phone with its state, what it shows, and who uses it."""
    del request  # every person who may use the bot sees the same list
    phones = await services.phones.refresh()
    if not phones:
        return plain(say("phone.none"))
    active = await services.desk.active()
    return plain("\n".join(_lines(phone, active) for phone in phones), heading=say("devices.heading"))


async def screen(request: Request, services: Services) -> Reply:
    """A screenshot, now. A secure screen cannot be shown, and that is told."""
    info = await _looked_at(request, services)
    require_usable(info)
    try:
        seen = await services.phones.get(info.id).observe()
    except PhoneError as error:
        raise Refused(say("screen.failed", name=info.name, why=error)) from error
    if seen.image is None or seen.secure:
        raise Refused(say("screen.secure", name=info.name))
    picture = Picture("screen.jpg", await asyncio.to_thread(draw_screen, seen.image))
    words = [seen.package, say("screen.locked") if seen.locked else ""]
    return Reply(Message(heading=info.name, body=" · ".join(word for word in words if word), picture=picture))


async def _looked_at(request: Request, services: Services) -> PhoneInfo:
    phones = services.phones.list()
    if wished := request.option("device"):
        return phone_named(wished, phones)
    if not phones:
        raise Refused(say("phone.none"))
    if len(phones) == 1:
        return phones[0]
    task = await services.desk.latest_for(request.person, request.address)
    used = next((phone for phone in phones if task is not None and phone.id == task.phone), None)
    if used is None:
        raise Refused(say("screen.which", names=", ".join(phone.name for phone in phones)))
    return used


def _lines(phone: PhoneInfo, active: tuple[Task, ...]) -> str:
    facts = [
        phone.model if phone.model != phone.name else "",
        say("devices.android", version=phone.android) if phone.android else "",
        say("devices.battery", percent=phone.battery) if phone.battery is not None else "",
        say("devices.virtual") if phone.virtual else "",
        say("devices.app", app=phone.app) if phone.app else "",
    ]
    first = f"{phone.name} ({phone.id}): {phone.health if phone.health is Health.READY else state_of(phone)}"
    mine = [task for task in active if task.phone == phone.id]
    user = next((task for task in mine if task.state is not TaskState.QUEUED), None)
    waiting = sum(task.state is TaskState.QUEUED for task in mine)
    if user is not None:
        facts.append(say("devices.used", task=user.id, person=user.person.name or user.person.id))
    if waiting:
        facts.append(say("devices.waiting", number=waiting))
    second = " · ".join(fact for fact in facts if fact)
    return f"{first}\n  {second}" if second else first
