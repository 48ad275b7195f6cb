"""Makes a phone fit for a run, and puts it back as it was."""

from __future__ import annotations

import asyncio
import logging

from devices.adb.kept_settings import INPUT_METHOD, SCREEN_TIMEOUT, STAY_ON, KeptSettings
from devices.adb.quoting import command
from devices.adb.shell import Shell
from devices.adb.state import State, read_state
from devices.adb.text_entry import BROADCAST_KEYBOARD
from devices.geometry import Size
from devices.wording import words

logger = logging.getLogger(__name__)

SCREEN_TIMEOUT_MS = 30 * 60 * 1000
"""Half an hour of light without a touch: a run may wait for a person, and battery phones ignore "stay on"."""

EVERY_POWER_SOURCE = 15
"""BatteryManager.BATTERY_PLUGGED_AC, USB, WIRELESS and DOCK together."""


class Preparation:
    """Waking, unlocking, keeping awake and the input method of one phone."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._settings = KeptSettings(shell)
        self._turn = asyncio.Lock()
        self._prepared = False
        self.broadcast_keyboard: bool | None = None
        """Whether text goes through the broadcast keyboard; None while the phone was not asked."""

    async def prepare(self, size: Size | None) -> State:
        """Wakes, unlocks what needs no PIN, keeps awake, chooses the input method. Returns the state after it."""
        async with self._turn:
            self._prepared = True
            await self._settings.change(STAY_ON, str(EVERY_POWER_SOURCE))
            await self._settings.change(SCREEN_TIMEOUT, str(SCREEN_TIMEOUT_MS))
            state = await self._wake(size)
            installed = (await self._shell.run("ime list -s -a", doing=words("phone.doing.keyboards"))).out.split()
            self.broadcast_keyboard = BROADCAST_KEYBOARD in installed and await self._settings.change(
                INPUT_METHOD, BROADCAST_KEYBOARD
            )
            return state

    async def restore(self) -> None:
        """Puts back what `prepare` changed, in this process or in one that crashed. Safe to call twice."""
        async with self._turn:
            await self._restore()
            self._prepared = False

    async def mend(self) -> bool:
        """Puts back what a process that crashed has left; false when a run of this process has the phone prepared."""
        async with self._turn:
            if self._prepared:
                return False
            await self._restore()
            return True

    async def _restore(self) -> None:
        self.broadcast_keyboard = None
        for setting in (INPUT_METHOD, SCREEN_TIMEOUT, STAY_ON):
            await self._settings.restore(setting)

    async def uses_broadcast_keyboard(self) -> bool:
        """Whether the broadcast keyboard is the current input method."""
        if self.broadcast_keyboard is None:
            self.broadcast_keyboard = await self._settings.get(INPUT_METHOD) == BROADCAST_KEYBOARD
        return self.broadcast_keyboard

    async def insist_on_broadcast_keyboard(self) -> bool:
        """Whether the broadcast keyboard is the input method now; chosen again where the phone went back to its own.

        Some makers do that for passwords, or whenever a field gets the focus.
        """
        if await self._settings.get(INPUT_METHOD) != BROADCAST_KEYBOARD:
            logger.info("%s went back to its own keyboard", self._shell.connection.serial)
            self.broadcast_keyboard = await self._settings.change(INPUT_METHOD, BROADCAST_KEYBOARD)
        return bool(self.broadcast_keyboard)

    async def _wake(self, size: Size | None) -> State:
        state = await read_state(self._shell)
        if not state.screen_on:
            await self._shell.run("input keyevent KEYCODE_WAKEUP", doing=words("phone.doing.waking"))
            state = await read_state(self._shell)
        if state.locked:
            # Takes a lock away that is only swiped; asks for the PIN where there is one.
            await self._shell.run("wm dismiss-keyguard", doing=words("phone.doing.unlocking"))
            state = await read_state(self._shell)
        if state.locked and size is not None:
            x, low, high = size.width // 2, size.height * 4 // 5, size.height // 5
            await self._shell.run(command("input", "swipe", x, low, x, high, 200), doing=words("phone.doing.unlocking"))
            state = await read_state(self._shell)
        if state.locked:
            logger.info("%s is locked by a PIN, pattern or password", self._shell.connection.serial)
        return state
