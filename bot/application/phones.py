"""Which phones somebody may use, and which of them they mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.application.access import Caller, Refused, Unknown, verdict
from bot.application.services import Services
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.domain.task_request import Entitlement, WishedPhone
from bot.tasks.input import health_words
from bot.texts import listed, paragraph, say
from devices.phone import PhoneInfo
from devices.wording import said

LISTED = 10
"""Names that an error message lists."""
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


def open_phones(caller: Caller, services: Services) -> tuple[PhoneInfo, ...]:
    """The phones that this person may use here; others do not exist for them."""
    return tuple(
        phone for phone in services.phones.list() if verdict(caller, services.policy, Right.USE, phone=phone.id).allowed
    )


def require_usable(phone: PhoneInfo) -> None:
    """Raise Refused with the reason and the fix when a run could not start on this phone."""
    if not phone.health.usable:
        raise Refused(say("phone.unusable", name=phone.name, state=state_of(phone)))


def require_open_to_tasks(phone: PhoneInfo) -> None:
    """Raise Refused with the reason and the fix when a task would wait for this phone in vain."""
    if not phone.health.takes_tasks:
        raise Refused(say("phone.unusable", name=phone.name, state=state_of(phone)))


def require_any(phones: Sequence[PhoneInfo]) -> None:
    """Raise Refused when no phone at all could take a task."""
    if not phones:
        raise Refused(say("phone.none"))
    if not any(phone.health.takes_tasks for phone in phones):
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


def phones_meant(caller: Caller, device: str, services: Services, *, quick: bool = False) -> Meant:
    """The phones that `device` names, "" for none. Raises Refused, for all of them, when one is not known or usable,
    and where none is named and can be used, for what is `quick`: it goes straight to a phone.
    """
    known = open_phones(caller, services)
    if not device.strip():
        if len(known) == 1 < len(services.phones.list()):
            require_open_to_tasks(known[0])
            return Meant(known)
        if quick or (not known and services.phones.list()):
            require_any(known)
        # What is only talked about needs no phone; what needs one is blocked where there is none.
        return Meant()
    named = phones_named(device, known)
    if named is None:
        require_any(known)
        usable = tuple(phone for phone in known if phone.health.usable)
        return Meant(usable, tuple(phone for phone in known if not phone.health.usable))
    for phone in named:
        require_open_to_tasks(phone)
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


def entitlement(caller: Caller, services: Services) -> Entitlement | None:
    """Which phones the person may use now, to be looked at again before one is given; None for the operator."""
    if caller.person.platform in OPERATOR_PLATFORMS:
        return None
    policy, without = services.policy, replace(caller, person=replace(caller.person, roles=frozenset()))
    every = verdict(caller, policy, Right.USE, phone=_NO_PHONE).allowed
    only = () if every else tuple(phone.id for phone in open_phones(caller, services))
    looked_at = (_NO_PHONE,) if every else only
    by_role = not all(verdict(without, policy, Right.USE, phone=phone).allowed for phone in looked_at)
    return Entitlement(only, by_role=by_role)
