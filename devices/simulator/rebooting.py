"""A restart of the whole phone."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from devices.simulator.state import LAUNCHER

if TYPE_CHECKING:
    from devices.simulator.phone import VirtualPhone


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
