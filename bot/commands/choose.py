"""Which phone and which task is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.access import Right
from bot.chats.incoming import CommandCall
from bot.commands.request import Refused, Request, Services, may_see, verdict
from bot.tasks.model import Task
from bot.tasks.wording import health_words
from bot.texts import listed, paragraph, say
from devices.phone import PhoneInfo
from devices.wording import said

LISTED = 10
"""Names that an error message lists."""
_LEADING = re.compile(r"(#?)(\d{1,18}(?:\.[^\s.]+)?)(?:\s+|$)")
"""A task's number, or that of a part, in front of a text."""
NAMES_SHOWN = 120
"""Characters of what was typed for a phone, or for several."""


def phone_named(text: str, phones: Sequence[PhoneInfo]) -> PhoneInfo:
    """The phone with this id, serial or name (in any case). Raises Refused for none, and for several of one name."""
    if not phones:
        raise Refused(say("phone.none"))
    wanted = text.casefold()
    exact = [phone for phone in phones if wanted in {phone.id.casefold(), phone.serial.casefold()}]
    found = exact or [phone for phone in phones if phone.name.casefold() == wanted]
    if not found:
        raise unknown_phone(text, phones)
    if len(found) > 1:
        raise Refused(say("phone.ambiguous", name=found[0].name, ids=listed(phone.id for phone in found[:LISTED])))
    return found[0]


def unknown_phone(text: str, phones: Sequence[PhoneInfo]) -> Refused:
    """None of these phones is called that; the known ones are listed."""
    if not phones:
        return Refused(say("phone.none"))
    return Refused(say("phone.unknown", name=text[:NAMES_SHOWN], known=listed(names_of(phones)[:LISTED])))


def open_phones(request: Request, services: Services) -> tuple[PhoneInfo, ...]:
    """The phones that this person may use here; others do not exist for them."""
    return tuple(
        phone
        for phone in services.phones.list()
        if verdict(request, services.policy, Right.USE, phone=phone.id).allowed
    )


def require_usable(phone: PhoneInfo) -> None:
    """Raise Refused with the reason and the fix when a run could not start on this phone."""
    if not phone.health.usable:
        raise Refused(say("phone.unusable", name=phone.name, state=state_of(phone)))


def require_any_usable(phones: Sequence[PhoneInfo]) -> None:
    """Raise Refused when no phone at all could take a task."""
    if not phones:
        raise Refused(say("phone.none"))
    if not any(phone.health.usable for phone in phones):
        states = "\n".join(say("phone.line", name=phone.name, state=state_of(phone)) for phone in phones[:LISTED])
        raise Refused(f"{say('phone.none_usable')}\n{states}")


def state_of(phone: PhoneInfo) -> str:
    """A phone's state with its reason and its fix."""
    state = say("phone.state", state=health_words(phone.health))
    return paragraph(state, said(phone.reason), said(phone.fix))


def names_of(phones: Sequence[PhoneInfo]) -> list[str]:
    """The phones' names, with the id where two have the same."""
    twice = {phone.name for phone in phones if sum(other.name == phone.name for other in phones) > 1}
    return [f"{phone.name} ({phone.id})" if phone.name in twice else phone.name for phone in phones]


async def task_meant(request: Request, services: Services) -> Task:
    """The task that the option `task` names, else the one that this person means here.

    Raises Refused when there is none, or it may not be shown here.
    """
    named = request.option("task").removeprefix("#").strip()
    if not named:
        task = await services.desk.latest_for(services.policy.accounts(request.person), request.address)
        if task is None:
            raise Refused(say("task.none"))
        return task
    return await task_named(named, request, services)


async def task_named(named: str, request: Request, services: Services) -> Task:
    """The task of this number; `12.2` and `12.pixel` are one phone's part of task 12. Raises Refused as for `task`."""
    task = await task_or_none(named, services)
    if task is None or not may_see(request, services.policy, task):
        raise Refused(say("task.unknown", name=named[:40]))
    return task


async def task_or_none(named: str, services: Services) -> Task | None:
    """The task, or one phone's part of one, with this number; whether it may be shown is not looked at."""
    number, dot, phone = named.partition(".")
    task = await services.desk.get(number) if number.isascii() and number.isdigit() else None
    if task is None or not dot:
        return task
    wanted = phone.strip().casefold()
    return next((part for part in await services.desk.parts(task.id) if wanted in _called(part)), None)


async def with_leading_task(request: Request, services: Services, *, means: Callable[[Task], bool]) -> Request:
    """`again 12 …` and `again #12 …` name a task, or as 12.2 one phone's part; `again 2 times` does not, unless task 2
    can be meant.
    """
    found = _LEADING.match(request.call.rest)
    if found is None or request.option("task"):
        return request
    rest = request.call.rest[found.end() :]
    if not found[1] and rest:
        task = await task_or_none(found[2], services)
        if task is None or not means(task):
            return request
    return replace(request, call=CommandCall(request.call.name, {**request.call.options, "task": found[2]}, rest))


def _called(part: Task) -> set[str]:
    return {part.called.partition(".")[2], part.phone.casefold(), part.phone_name.casefold()}
