"""Screenshots of a phone for people who ask to see it."""

from __future__ import annotations

from PIL import Image

from bot.application.access import Caller, Refused, audited, may_see, require
from bot.application.phones import open_phones, phone_named, require_usable
from bot.application.services import Services
from bot.application.task_access import latest_task
from bot.domain.right import Right
from bot.tasks.hands import HeldByOther
from bot.texts import listed, say
from devices.errors import PhoneError
from devices.phone import Observation, PhoneInfo
from devices.wording import said, sentence_of


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
    phone, and HeldByOther if somebody else is operating it.
    """
    async with audited(caller.person, services.store):
        require(caller, services.policy, Right.USE, phone=info.id)
    require_usable(info)
    used = await services.task_service.working_on(info.id)
    if used is not None and not may_see(caller, services.policy, used):
        raise Refused(say("screen.private", name=info.name))
    hold = services.hands.holder(info.id)
    if hold is not None and not services.policy.same(hold.person, caller.person):
        raise HeldByOther(hold.name, hold.person)
    try:
        seen = await services.phones.get(info.id).observe()
    except PhoneError as error:
        raise Refused(say("screen.failed", name=info.name, why=said(sentence_of(error)))) from error
    if seen.image is None or seen.secure:
        raise Refused(say("screen.secure", name=info.name))
    return seen, seen.image
