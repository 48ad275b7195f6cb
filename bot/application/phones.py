"""Which phones a person may use, which of them a text names, and screenshots of them for people who ask to see one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PIL import Image

from bot.application.access import Caller, Refused, Unknown, audited, may_see, require, verdict
from bot.application.services import Services
from bot.application.task_access import latest_task
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.domain.task_request import Entitlement, WishedPhone
from bot.tasks.input import health_words
from bot.tasks.remote_control import PhoneInUse
from bot.texts import listed, paragraph, say
from devices.errors import PhoneError
from devices.phone import Observation, PhoneInfo
from devices.wording import said, sentence_of

LISTED = 10
"""Maximum names of phones that an error message lists."""
NAMES_SHOWN = 120
"""Maximum characters of a typed phone name that an error message repeats."""


def phone_named(text: str, phones: Sequence[PhoneInfo]) -> PhoneInfo:
    """Return the phone whose id, serial or name is `text` (case-insensitive). Raises Refused if there is none, or if
    several share the name.
    """
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
    """Return the refusal for a phone name that no phone has; its text lists the known phones."""
    if not phones:
        return Unknown(say("phone.none"))
    return Unknown(say("phone.unknown", name=text[:NAMES_SHOWN], known=listed(names_of(phones)[:LISTED])))


def open_phones(caller: Caller, services: Services) -> tuple[PhoneInfo, ...]:
    """Return the phones that the caller may use at this place. All other phones are hidden from them."""
    return tuple(
        phone for phone in services.phones.list() if verdict(caller, services.policy, Right.USE, phone=phone.id).allowed
    )


def require_usable(phone: PhoneInfo) -> None:
    """Check that a task could start on this phone now. Raises Refused with the reason and what to do."""
    if not phone.health.usable:
        raise Refused(say("phone.unusable", name=phone.name, state=state_of(phone)))


def require_open_to_tasks(phone: PhoneInfo) -> None:
    """Check that this phone takes tasks, now or after a wait. Raises Refused with the reason and what to do."""
    if not phone.health.takes_tasks:
        raise Refused(say("phone.unusable", name=phone.name, state=state_of(phone)))


def require_any(phones: Sequence[PhoneInfo]) -> None:
    """Check that at least one of the phones takes tasks. Raises Refused with each phone's state if none does."""
    if not phones:
        raise Refused(say("phone.none"))
    if not any(phone.health.takes_tasks for phone in phones):
        states = "\n".join(say("phone.line", name=phone.name, state=state_of(phone)) for phone in phones[:LISTED])
        raise Refused(f"{say('phone.none_usable')}\n{states}")


def state_of(phone: PhoneInfo) -> str:
    """Return a phone's state as text for people, with the reason and what to do."""
    state = say("phone.state", state=health_words(phone.health))
    return paragraph(state, said(phone.reason), said(phone.fix))


def names_of(phones: Sequence[PhoneInfo]) -> list[str]:
    """Return the phones' names in the same order. Names that several phones share get the phone's id added."""
    twice = {phone.name for phone in phones if sum(other.name == phone.name for other in phones) > 1}
    return [f"{phone.name} ({phone.id})" if phone.name in twice else phone.name for phone in phones]


ALL = "all"
"""Used as a phone name: every phone that the person may use here and that is usable now. If there is none, every phone
that takes tasks: the task waits for them.
"""
SEPARATORS = re.compile(r"[,，、]")
_NO_PHONE = "?"
"""An id that no phone has: whoever may use it may use every phone, including those that are not connected yet."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The phones that a request names; `phones` is empty if any free phone will do."""

    phones: tuple[PhoneInfo, ...] = ()
    left_out: tuple[PhoneInfo, ...] = ()
    """If the request named all phones, those that are not among `phones`."""


def phones_meant(caller: Caller, device: str, services: Services, *, quick: bool = False) -> Meant:
    """Return the phones that `device`, a list of names as typed, refers to. "" means any phone or, if the caller may
    use only one of several, that one.

    Raises Refused if a phone is unknown or does not take tasks, if all phones are named and none takes tasks, and
    without a name if there are phones but the caller may use none. A `quick` task goes straight to a phone, so without
    a name Refused is also raised if no phone takes tasks.
    """
    known = open_phones(caller, services)
    if not device.strip():
        if len(known) == 1 < len(services.phones.list()):
            require_open_to_tasks(known[0])
            return Meant(known)
        if quick or (not known and services.phones.list()):
            require_any(known)
        # A question that is only talked about needs no phone. A task that needs one is blocked later if there is none.
        return Meant()
    named = phones_named(device, known)
    if named is None:
        require_any(known)
        usable = tuple(phone for phone in known if phone.health.usable)
        meant = usable or tuple(phone for phone in known if phone.health.takes_tasks)
        return Meant(meant, tuple(phone for phone in known if phone not in meant))
    for phone in named:
        require_open_to_tasks(phone)
    return Meant(named)


def phones_named(text: str, phones: Sequence[PhoneInfo]) -> tuple[PhoneInfo, ...] | None:
    """Return the phones that a comma-separated list names, without duplicates; None if the text means all of them.
    Raises Refused, which lists every unknown name.
    """
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
    """Convert phones to the form that a task request stores: id and name, with names that tell the phones apart."""
    return tuple(WishedPhone(phone.id, name) for phone, name in zip(phones, names_of(phones), strict=True))


def entitlement(caller: Caller, services: Services) -> Entitlement | None:
    """Return which phones the caller may use now. It is stored with the task, so that the right can be checked again
    later. None for the operator, who may use all.
    """
    if caller.person.platform in OPERATOR_PLATFORMS:
        return None
    policy, without = services.policy, replace(caller, person=replace(caller.person, roles=frozenset()))
    every = verdict(caller, policy, Right.USE, phone=_NO_PHONE).allowed
    only = () if every else tuple(phone.id for phone in open_phones(caller, services))
    looked_at = (_NO_PHONE,) if every else only
    by_role = not all(verdict(without, policy, Right.USE, phone=phone).allowed for phone in looked_at)
    return Entitlement(only, by_role=by_role)


async def phone_meant(caller: Caller, device: str, services: Services) -> PhoneInfo:
    """Return the phone that `device` names. If `device` is "": the only phone, else the phone of the task that the
    caller most likely means here (such as their latest unfinished one), else the only usable phone.

    Raises Refused if several phones are still possible, or if there is none with this name that the caller may use
    here.
    """
    phones = open_phones(caller, services)
    if device:
        return phone_named(device, phones)
    if not phones:
        raise Refused(say("phone.none"))
    if len(phones) == 1:
        return phones[0]
    task = await latest_task(caller, services)
    used = next((phone for phone in phones if task is not None and phone.id == task.phone), None)
    usable = [phone for phone in phones if phone.health.usable]
    if used is None and len(usable) == 1:
        return usable[0]
    if used is None:
        raise Refused(say("screen.which", names=listed(phone.name for phone in phones)))
    return used


async def look(caller: Caller, info: PhoneInfo, services: Services) -> tuple[Observation, Image.Image]:
    """Take a screenshot of a phone, and return what was observed together with the picture.

    Raises Refused if the screen is secure (Android forbids screenshots of it), if the phone cannot be used or does not
    answer, or if it is working on a task that may not be shown here. Raises NotAllowed if the caller may not use the
    phone, and PhoneInUse if somebody else is operating it.
    """
    async with audited(caller.person, services.store):
        require(caller, services.policy, Right.USE, phone=info.id)
    require_usable(info)
    used = await services.task_service.working_on(info.id)
    if used is not None and not may_see(caller, services.policy, used):
        raise Refused(say("screen.private", name=info.name))
    hold = services.remote_control.session_on(info.id)
    if hold is not None and not services.policy.same(hold.person, caller.person):
        raise PhoneInUse(hold.name, hold.person)
    try:
        seen = await services.phones.get(info.id).observe()
    except PhoneError as error:
        raise Refused(say("screen.failed", name=info.name, why=said(sentence_of(error)))) from error
    if seen.image is None or seen.secure:
        raise Refused(say("screen.secure", name=info.name))
    return seen, seen.image
