"""Which phones a task is for: one, several by name, all that may be used, or any free one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.access import OPERATOR_PLATFORMS, Right
from bot.commands.choose import (
    names_of,
    open_phones,
    phone_named,
    require_any_usable,
    require_usable,
    state_of,
    unknown_phone,
)
from bot.commands.request import Request, Services, verdict
from bot.tasks.model import Entitlement, WishedPhone
from bot.texts import listed, say
from devices.phone import PhoneInfo

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
    return Entitlement(only, private=request.place.private, by_role=by_role)
