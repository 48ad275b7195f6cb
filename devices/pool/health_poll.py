"""Checks phones regularly while no run uses them, so that a choice between them is based on current facts."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Collection

from devices.adb.driver import AdbPhone
from devices.adb.link_state import SILENT, STARTING, reconnecting
from devices.errors import PhoneError
from devices.phone import Health
from devices.wording import sentence_of

logger = logging.getLogger(__name__)

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
        before, heard = phone.info, phone.heard
        try:
            await phone.refresh()
        except PhoneError as failed:
            if phone.heard != heard:
                return
            logger.info("%s could not be asked: %s", before.name, failed)
            reason = sentence_of(failed)
            fix = SILENT if reason == STARTING else reconnecting(phone.info.serial)
            phone.note(dataclasses.replace(phone.info, health=Health.SILENT, reason=reason, fix=fix))
        if (before.health, before.reason) != (phone.info.health, phone.info.reason):
            logger.info("phone %s: %s. %s", phone.info.name, phone.info.health, phone.info.reason)
            self._changed()

    async def _run(self) -> None:
        while True:
            now = asyncio.get_running_loop().time()
            due = [phone for phone in self._attached() if now - phone.heard >= self._every]
            await asyncio.gather(*(self.ask(phone) for phone in due))
            heard = [phone.heard for phone in self._attached() if phone not in due]
            oldest = min(heard, default=now)
            await asyncio.sleep(min(self._every, max(self._every / 10, oldest + self._every - now)))
