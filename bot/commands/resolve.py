"""Which task and which phones a request means."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.commands.request import Refused, Request, Services, Unknown, may_see, verdict
from bot.domain.incoming import CommandCall
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.domain.task import Task
from bot.domain.task_request import Entitlement, WishedPhone
from bot.tasks.input import health_words
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
        raise Unknown(say("phone.none"))
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
        return Unknown(say("phone.none"))
    return Unknown(say("phone.unknown", name=text[:NAMES_SHOWN], known=listed(names_of(phones)[:LISTED])))


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
        task = await services.task_service.latest_for(services.policy.accounts(request.person), request.address)
        if task is None:
            raise Refused(say("task.none"))
        return task
    return await task_named(named, request, services)


async def task_named(named: str, request: Request, services: Services) -> Task:
    """The task of this number; `12.2` and `12.pixel` are one phone's part of task 12. Raises Refused as for `task`."""
    task = await task_or_none(named, services)
    if task is None or not may_see(request, services.policy, task):
        raise Unknown(say("task.unknown", name=named[:40]))
    return task


async def task_or_none(named: str, services: Services) -> Task | None:
    """The task, or one phone's part of one, with this number; whether it may be shown is not looked at."""
    number, dot, phone = named.partition(".")
    task = await services.task_service.get(number) if number.isascii() and number.isdigit() else None
    if task is None or not dot:
        return task
    wanted = phone.strip().casefold()
    return next((part for part in await services.task_service.parts(task.id) if wanted in _called(part)), None)


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


ALL = "all"
"""In place of names: every phone that the person may use here and that can be used now."""
SEPARATORS = re.compile(r"[,，、]")
_NO_PHONE = "?"
"""No phone has this id: who may use it may use every phone, those included that are not connected yet."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The phones of a task: none for any free one. `left_out` are those of `all` that cannot be used now."""

    phones: tuple[PhoneInfo, ...] = ()
    left_out: tuple[PhoneInfo, ...] = ()


def phones_meant(request: Request, services: Services) -> Meant:
    """The phones that the option `device` names. Raises Refused, for all of them, when one is not known or usable."""
    known = open_phones(request, services)
    wished = request.option("device")
    if not wished:
        if len(known) == 1 < len(services.phones.list()):
            require_usable(known[0])
            return Meant(known)
        require_any_usable(known)
        return Meant()
    named = phones_named(wished, known)
    if named is None:
        require_any_usable(known)
        usable = tuple(phone for phone in known if phone.health.usable)
        return Meant(usable, tuple(phone for phone in known if not phone.health.usable))
    for phone in named:
        require_usable(phone)
    return Meant(named)


def phones_named(text: str, phones: Sequence[PhoneInfo]) -> tuple[PhoneInfo, ...] | None:
    """The phones with these names, each once; None for all. Raises Refused, with every name that is not known."""
    if _is_called(text.strip(), phones):
        return (phone_named(text.strip(), phones),)
    if text.strip().casefold() in {ALL, "全部", "所有"}:
        return None
    names = [name for part in SEPARATORS.split(text) if (name := part.strip())]
    unknown = [name for name in names if not _is_called(name, phones)]
    if unknown or not names:
        raise unknown_phone(listed(unknown) or text, phones)
    return tuple({phone.id: phone for phone in (phone_named(name, phones) for name in names)}.values())


def _is_called(name: str, phones: Sequence[PhoneInfo]) -> bool:
    wanted = name.casefold()
    return any(wanted in {phone.id.casefold(), phone.serial.casefold(), phone.name.casefold()} for phone in phones)


def wished(phones: Sequence[PhoneInfo]) -> tuple[WishedPhone, ...]:
    """The phones with names that tell them apart."""
    return tuple(WishedPhone(phone.id, name) for phone, name in zip(phones, names_of(phones), strict=True))


def left_out_words(phones: Sequence[PhoneInfo]) -> list[str]:
    """The phones that `all` leaves out, each with why."""
    return [say("do.left_out", name=phone.name, state=state_of(phone)) for phone in phones]


def entitlement(request: Request, services: Services) -> Entitlement | None:
    """Which phones the person may use now, to be looked at again before one is given; None for the operator."""
    if request.person.platform in OPERATOR_PLATFORMS:
        return None
    policy, without = services.policy, replace(request, person=replace(request.person, roles=frozenset()))
    every = verdict(request, policy, Right.USE, phone=_NO_PHONE).allowed
    only = () if every else tuple(phone.id for phone in open_phones(request, services))
    looked_at = (_NO_PHONE,) if every else only
    by_role = not all(verdict(without, policy, Right.USE, phone=phone).allowed for phone in looked_at)
    return Entitlement(only, by_role=by_role)
