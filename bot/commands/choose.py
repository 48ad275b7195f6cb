"""Which phone and which task is meant."""

from __future__ import annotations

from collections.abc import Sequence

from bot.access import Right
from bot.commands.request import Refused, Request, Services, may_see, verdict
from bot.tasks.model import Task
from bot.texts import say
from devices.phone import PhoneInfo

LISTED = 10
"""Names that an error message lists."""


def phone_named(text: str, phones: Sequence[PhoneInfo]) -> PhoneInfo:
    """The phone with this id, serial or name (in any case). Raises Refused for none, and for several of one name."""
    if not phones:
        raise Refused(say("phone.none"))
    wanted = text.casefold()
    exact = [phone for phone in phones if wanted in {phone.id.casefold(), phone.serial.casefold()}]
    found = exact or [phone for phone in phones if phone.name.casefold() == wanted]
    if not found:
        raise Refused(say("phone.unknown", name=text[:40], known=_names(phones)))
    if len(found) > 1:
        raise Refused(say("phone.ambiguous", name=found[0].name, ids=", ".join(phone.id for phone in found[:LISTED])))
    return found[0]


def open_phones(request: Request, services: Services) -> tuple[PhoneInfo, ...]:
    """The phones that this person may use here; others do not exist for them."""
    return tuple(
        phone
        for phone in services.phones.list()
        if verdict(request, services.policy, Right.USE, phone=phone.id).allowed
    )


def sole_phone(phones: Sequence[PhoneInfo]) -> PhoneInfo:
    """The phone for somebody who may use only these: a task for any free one could get another. Raises Refused."""
    if len(phones) != 1:
        raise Refused(say("people.which_phone", names=", ".join(phone.name for phone in phones[:LISTED])))
    return phones[0]


def require_usable(phone: PhoneInfo) -> None:
    """Raise Refused with the reason and the fix when a run could not start on this phone."""
    if not phone.health.usable:
        raise Refused(say("phone.unusable", name=phone.name, state=state_of(phone)))


def require_any_usable(phones: Sequence[PhoneInfo]) -> None:
    """Raise Refused when no phone at all could take a task."""
    if not phones:
        raise Refused(say("phone.none"))
    if not any(phone.health.usable for phone in phones):
        states = "\n".join(f"{phone.name}: {state_of(phone)}" for phone in phones[:LISTED])
        raise Refused(f"{say('phone.none_usable')}\n{states}")


def state_of(phone: PhoneInfo) -> str:
    """A phone's state with its reason and its fix."""
    return " ".join(part for part in (f"{phone.health}.", phone.reason, phone.fix) if part)


def _names(phones: Sequence[PhoneInfo]) -> str:
    twice = {phone.name for phone in phones if sum(other.name == phone.name for other in phones) > 1}
    return ", ".join(f"{phone.name} ({phone.id})" if phone.name in twice else phone.name for phone in phones[:LISTED])


async def task_meant(request: Request, services: Services) -> Task:
    """The task that the option `task` names, else the one that this person means here.

    Raises Refused when there is none, or it may not be shown here.
    """
    named = request.option("task").removeprefix("#").strip()
    if not named:
        task = await services.desk.latest_for(request.person, request.address)
        if task is None:
            raise Refused(say("task.none"))
        return task
    task = await services.desk.get(named) if named.isascii() and named.isdigit() else None
    if task is None or not may_see(request, services.policy, task):
        raise Refused(say("task.unknown", name=named[:40]))
    return task
