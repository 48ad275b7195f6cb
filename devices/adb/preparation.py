"""Prepares a phone for a run, and restores what was changed, even after a crash: the original values are stored on the
phone.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass

from devices.adb.input_commands import BROADCAST_KEYBOARD
from devices.adb.shell import Shell, command, failure_in, together
from devices.adb.state import State, read_state
from devices.errors import CommandFailed
from devices.geometry import Size
from devices.wording import words

logger = logging.getLogger(__name__)

_ABSENT = "null"  # what `settings get` prints for a setting that is not there
_ABSENT_MARK = "opengui-absent"
# AOSP InputMethodManagerService: "Input method … selected", and "Unknown input method … cannot be selected".
_SELECTED = re.compile(r"^Input method \S+ selected", re.MULTILINE)
KEPT_PREFIX = "opengui_before_"
"""The prefix of keys in `global` that hold the original values."""
LIST_KEPT = (
    'echo "$(settings list global 2>&1 || echo Error: list)" | '
    f"grep -E '^{KEPT_PREFIX}|^ *(cmd|[Ee]rror|Exception|java|android|Security|Permission|Failure|No shell|Killed|Bad)'"
)
"""Lists these keys and values, and error messages that mean that they cannot be listed."""
_KEPT = re.compile(rf"^{KEPT_PREFIX}(\w+)=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of Android: its namespace (`global`, `secure` or `system`) and key."""

    namespace: str
    key: str

    @property
    def kept_as(self) -> str:
        """The key in the namespace `global` under which the original value is stored."""
        return KEPT_PREFIX + self.key


SCREEN_TIMEOUT = Setting("system", "screen_off_timeout")
STAY_ON = Setting("global", "stay_on_while_plugged_in")
INPUT_METHOD = Setting("secure", "default_input_method")


def kept_in(listed: str) -> tuple[str, ...] | None:
    """Return the keys of changed settings from the output of `LIST_KEPT`; None if the phone could not list them."""
    return None if failure_in(listed) else tuple(_KEPT.findall(listed))


class KeptSettings:
    """Changes settings of one phone and stores their original values on the phone."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def get(self, setting: Setting) -> str | None:
        """Return the current value; None if the setting has none. Raises CommandFailed if the phone cannot read it."""
        return await self._get(setting.namespace, setting.key)

    async def change(self, setting: Setting, value: str) -> bool:
        """Store the original value, unless one is stored already, and set the new one. If the setting has the new value
        already, nothing is stored or changed, and True is returned.

        Returns False if the phone does not let adb change it: some makers require a developer option of their own
        ("USB debugging (Security settings)" at Xiaomi). Also returns False, leaving the setting as it is, if the
        original value cannot be read or stored.
        """
        try:
            before = await self.get(setting)
            if before == value:
                return True
            if await self._get("global", setting.kept_as) is None:
                mark = _ABSENT_MARK if before is None else before
                put = command("settings", "put", "global", setting.kept_as, mark)
                kept = await self._ask(f"{put} && {command('settings', 'get', 'global', setting.kept_as)}")
                if kept.strip() != mark:
                    return False
        except CommandFailed as failed:
            logger.warning("%s; it is left as it is", failed)
            return False
        return await self._put(setting, value)

    async def restore(self, setting: Setting) -> bool:
        """Restore the original value if one is stored, even if a person has changed the setting since.

        Returns False if the phone refuses; the value then stays stored for the next attempt. Raises another PhoneError
        if the phone does not answer.
        """
        try:
            before = await self._get("global", setting.kept_as)
            if before is None:
                return True
            await self._put_back(setting, before)
            await self._ask(command("settings", "delete", "global", setting.kept_as))
        except CommandFailed as failed:
            serial = self._shell.connection.serial
            logger.warning(
                "The setting %s could not be restored on %s; this will be tried again: %s", setting.key, serial, failed
            )
            return False
        return True

    async def _put_back(self, setting: Setting, before: str) -> None:
        if before == _ABSENT_MARK:
            await self._ask(command("settings", "delete", setting.namespace, setting.key))
        elif not await self._put(setting, before) and not (
            setting is INPUT_METHOD and await self._another_keyboard(before)
        ):
            raise CommandFailed(words("phone.error.unset", serial=self._shell.connection.serial, key=setting.key))

    async def _another_keyboard(self, before: str) -> bool:
        """If the person's own keyboard is gone, select the first other one, so that they can type by hand."""
        if before in (await self._ask("ime list -s -a")).split():
            return False
        now = await self.get(INPUT_METHOD)
        listed = (await self._ask("ime list -s")).split()
        other = next((each for each in listed if each != now), None)
        return other is not None and await self._put(INPUT_METHOD, other)

    async def _put(self, setting: Setting, value: str) -> bool:
        if setting is INPUT_METHOD:
            # The service checks that the method exists and enables it; writing the setting alone does neither.
            await self._shell.run(command("ime", "enable", value))
            return _SELECTED.search((await self._shell.run(command("ime", "set", value))).text) is not None
        return not (await self._shell.run(command("settings", "put", setting.namespace, setting.key, value))).failure

    async def _get(self, namespace: str, key: str) -> str | None:
        line = command("settings", "get", namespace, key)
        told = await self._ask(line)
        if not told:
            raise self._failed(line, words("phone.error.nothing_said"))  # not even a newline
        return None if told.strip() in {"", _ABSENT} else told.strip()

    async def _ask(self, line: str) -> str:
        """Return what a command printed. Raises CommandFailed if it failed."""
        answer = await self._shell.run(line)
        if problem := answer.failure:
            raise self._failed(line, problem)
        return answer.out

    def _failed(self, line: str, problem: str) -> CommandFailed:
        serial = self._shell.connection.serial
        return CommandFailed(words("phone.error.failed", serial=serial, line=line, problem=problem))


SCREEN_TIMEOUT_MS = 30 * 60 * 1000
"""Half an hour without a touch: a run may wait for a person, and on battery, phones ignore "stay on"."""

EVERY_POWER_SOURCE = 15
"""BatteryManager.BATTERY_PLUGGED_AC, USB, WIRELESS and DOCK combined."""


class Preparation:
    """Prepares one phone for a run: wakes it, unlocks it, keeps it awake and selects its input method. Restores this
    afterwards.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._settings = KeptSettings(shell)
        self._turn = asyncio.Lock()
        self._prepared = False
        self.broadcast_keyboard: bool | None = None
        """Whether text is typed through ADBKeyboard; None before the phone was asked."""

    async def prepare(self, size: Size | None) -> State:
        """Wake the phone, unlock it if it has no PIN, keep it awake, select the input method, and return its state.

        `size` is the size of the screen in pixels; None if unknown.
        """
        async with self._turn:
            self._prepared = True
            # None depends on another, so they run together and only the slowest delays the task.
            async with together() as group:
                group.create_task(self._settings.change(STAY_ON, str(EVERY_POWER_SOURCE)))
                group.create_task(self._settings.change(SCREEN_TIMEOUT, str(SCREEN_TIMEOUT_MS)))
                waking = group.create_task(self._wake(size))
                choosing = group.create_task(self._choose_keyboard())
            self.broadcast_keyboard = choosing.result()
            return waking.result()

    async def _choose_keyboard(self) -> bool:
        listed = await self._shell.run("ime list -s -a", doing=words("phone.doing.keyboards"))
        if BROADCAST_KEYBOARD not in listed.out.split():
            return False
        return await self._settings.change(INPUT_METHOD, BROADCAST_KEYBOARD)

    async def restore(self) -> None:
        """Restore what `prepare` changed, in this process or in one that crashed. Safe to call twice."""
        async with self._turn:
            await self._restore()
            self._prepared = False

    async def mend(self) -> bool:
        """Restore what a crashed process left changed. Returns False if that fails, or if a run of this process is
        using the phone.
        """
        async with self._turn:
            return not self._prepared and await self._restore()

    async def _restore(self) -> bool:
        self.broadcast_keyboard = None
        return all([await self._settings.restore(setting) for setting in (INPUT_METHOD, SCREEN_TIMEOUT, STAY_ON)])

    async def uses_broadcast_keyboard(self) -> bool:
        """Return whether ADBKeyboard, which receives text by broadcast, is selected as far as is known."""
        if self.broadcast_keyboard is None:
            try:
                self.broadcast_keyboard = await self._settings.get(INPUT_METHOD) == BROADCAST_KEYBOARD
            except CommandFailed as failed:
                logger.warning("%s", failed)
        return bool(self.broadcast_keyboard)

    async def insist_on_broadcast_keyboard(self) -> bool:
        """Select ADBKeyboard again if the phone switched to another input method, and return whether it is selected.

        Some makers switch back for passwords, or whenever a field gets the focus.
        """
        try:
            if await self._settings.get(INPUT_METHOD) != BROADCAST_KEYBOARD:
                logger.info("%s went back to its own keyboard", self._shell.connection.serial)
                self.broadcast_keyboard = await self._settings.change(INPUT_METHOD, BROADCAST_KEYBOARD)
        except CommandFailed as failed:
            logger.warning("%s", failed)
            return False
        return bool(self.broadcast_keyboard)

    async def _wake(self, size: Size | None) -> State:
        state = await read_state(self._shell)
        if not state.screen_on:
            await self._shell.run("input keyevent KEYCODE_WAKEUP", doing=words("phone.doing.waking"))
            state = await read_state(self._shell)
        if state.locked:
            # Dismisses a swipe lock, or shows the PIN page if there is a PIN.
            await self._shell.run("wm dismiss-keyguard", doing=words("phone.doing.unlocking"))
            state = await read_state(self._shell)
        if state.locked and size is not None:
            x, low, high = size.width // 2, size.height * 4 // 5, size.height // 5
            await self._shell.run(command("input", "swipe", x, low, x, high, 200), doing=words("phone.doing.unlocking"))
            state = await read_state(self._shell)
        if state.locked:
            logger.info("%s is locked by a PIN, pattern or password", self._shell.connection.serial)
        return state
