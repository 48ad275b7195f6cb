"""The pool's checks of phones: who a newly attached one is, which ones report the same identity, and the health of
those that no run uses.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Collection, Mapping

from devices.adb.connection import Connection
from devices.adb.driver import AdbPhone
from devices.adb.following import Link
from devices.adb.identity import Identity, identify
from devices.adb.links import SILENT, STARTING, reconnecting
from devices.adb.shell import Shell, together
from devices.errors import PhoneError
from devices.phone import Health
from devices.wording import sentence_of, words

logger = logging.getLogger(__name__)

SLOW_ANSWER = 1.5
"""Seconds after which a phone that has not answered is listed as silent instead of not at all."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""The first and longest pause in seconds before a silent phone is asked again; the pause doubles each time."""


async def handshake(link: Link, silent: Callable[[str], None]) -> Identity:
    """Wait until the phone at this link answers, for instance while it boots, and return its identity.

    `silent` is called with the reason whenever there is no answer yet.
    """
    shell, pause = Shell(Connection(*link)), FIRST_PAUSE
    while True:
        try:
            async with together() as group:
                asked = group.create_task(identify(shell))
                await asyncio.wait({asked}, timeout=SLOW_ANSWER)
                if not asked.done():
                    silent(words("phone.starting.reason", seconds=SLOW_ANSWER))
            return asked.result()
        except PhoneError as shy:
            logger.info("%s does not answer yet: %s", link[1], shy)
            silent(sentence_of(shy))
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 2)


async def id_of(
    identity: Identity, link: Link, phones: Mapping[str, AdbPhone], works: Callable[[AdbPhone], bool]
) -> str:
    """Return the stable id of the phone behind a new link: its android_id, with something behind it if a different
    phone has it; the serial at adb if it reports no android_id.

    Copies of a phone are distinguished by the serial number on the phone. If that was copied too, both phones are
    asked at the same time, provided that `works` says that the known one can be used: a phone on two links reports the
    same boot id. `phones` are the known phones by id.
    """
    if not identity.android_id:
        return link[1]
    taken: list[str] = []
    for behind in ("", f"@{identity.serial}", f"@{link[1]}"):
        phone_id = f"{identity.android_id}{behind}"
        known = phones.get(phone_id)
        if known is None or await _same(identity, link, known, works=works(known)):
            break
        taken.append(known.info.name)
    if taken:
        logger.warning("%s reports the same identity as %s but is a different phone", phone_id, " and ".join(taken))
    return phone_id


async def _same(identity: Identity, link: Link, known: AdbPhone, *, works: bool) -> bool:
    if (known.connection.address, known.connection.serial) == link:
        return True
    if known.number and identity.serial and known.number != identity.serial:
        return False
    try:
        return not works or identity.same_phone(await identify(Shell(known.connection)))
    except PhoneError as away:
        logger.debug("%s is not there any more: %s", known.info.name, away)
        return True


HEALTH_EVERY = 30.0
"""Seconds after which the information about a phone is refreshed.

Half a minute is how long a person waits before checking a phone that was just unlocked or plugged in. One check costs
this process about 0.5 ms, so eight phones cost far less than 0.1 % of a core. A phone that a run looks at is not
checked.
"""


class HealthPoller:
    """Checks every attached phone that was not heard from for `every` seconds, and calls `changed` if its health has
    changed.

    `attached` returns the phones to check.
    """

    def __init__(
        self, attached: Callable[[], Collection[AdbPhone]], changed: Callable[[], None], every: float = HEALTH_EVERY
    ) -> None:
        self._attached = attached
        self._changed = changed
        self._every = every
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to check phones regularly in the background."""
        self._running = asyncio.create_task(self._run(), name="health of the phones")

    async def stop(self) -> None:
        """Stop checking phones."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def ask_all(self) -> None:
        """Check every phone now, all at once, each within its time limit."""
        await asyncio.gather(*(self.ask(phone) for phone in self._attached()))

    async def ask(self, phone: AdbPhone) -> None:
        """Check one phone and store the result in its info. It counts as silent if it does not answer and was not
        heard from otherwise.
        """
        before, heard = phone.info, phone.last_heard
        try:
            await phone.refresh()
        except PhoneError as failed:
            if phone.last_heard != heard:
                return
            logger.info("%s could not be asked: %s", before.name, failed)
            reason = sentence_of(failed)
            fix = SILENT if reason == STARTING else reconnecting(phone.info.serial)
            phone.set_info(dataclasses.replace(phone.info, health=Health.SILENT, reason=reason, fix=fix))
        if (before.health, before.reason) != (phone.info.health, phone.info.reason):
            logger.info("phone %s: %s. %s", phone.info.name, phone.info.health, phone.info.reason)
            self._changed()

    async def _run(self) -> None:
        while True:
            now = asyncio.get_running_loop().time()
            due = [phone for phone in self._attached() if now - phone.last_heard >= self._every]
            await asyncio.gather(*(self.ask(phone) for phone in due))
            heard = [phone.last_heard for phone in self._attached() if phone not in due]
            oldest = min(heard, default=now)
            await asyncio.sleep(min(self._every, max(self._every / 10, oldest + self._every - now)))
