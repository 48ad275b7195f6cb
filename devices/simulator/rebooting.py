"""A restart of the whole phone."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from devices.simulator.state import LAUNCHER

if TYPE_CHECKING:
    from devices.simulator.phone import VirtualPhone


ANSWER_SECONDS = 0.2
"""Between the command and the dark: it is answered first."""
OFF_SECONDS, START_SECONDS = 5.0, 5.0
_running: set[asyncio.Task[None]] = set()


def reboot_soon(phone: VirtualPhone) -> None:
    """As `adb reboot` does."""

    def begin() -> None:
        # A task of its own: it ends every link, also the one that it was asked on.
        task = asyncio.create_task(reboot(phone, OFF_SECONDS, START_SECONDS), name=f"reboot of {phone.name}")
        _running.add(task)
        task.add_done_callback(_running.discard)

    phone.later(ANSWER_SECONDS, begin)


async def reboot(phone: VirtualPhone, seconds: float, start_seconds: float) -> None:
    """It goes off for `seconds`; adbd then answers `start_seconds` before Android does, whose apps are closed and
    whose screen is locked.
    """
    state = phone.state
    phone.boot_id = str(uuid.uuid4())
    state.tasks, state.dialogs, state.front = [], [], LAUNCHER
    state.shade = state.recents = False
    phone.desk.lock()
    phone.desk.wake()
    phone.uiautomator.crash()
    phone.starting = True

    def started() -> None:
        phone.starting = False

    phone.later(seconds + start_seconds, started)
    await phone.drop_link(seconds)
