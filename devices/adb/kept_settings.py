"""Settings that are changed for a run and put back afterwards, also after a crash.

The value from before is written into a setting of the phone itself before the first change. So whoever comes next, this
process or one on another machine, can put it back; a file on this machine would not travel with the phone.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from devices.adb.quoting import command
from devices.adb.shell import Shell

logger = logging.getLogger(__name__)

_ABSENT = "null"  # what `settings get` prints for a setting that is not there
_ABSENT_MARK = "opengui-absent"
# AOSP InputMethodManagerService: "Input method … selected", and "Unknown input method … cannot be selected".
_SELECTED = re.compile(r"^Input method \S+ selected", re.MULTILINE)
KEPT_PREFIX = "opengui_before_"
"""How the keys in `global` begin that hold values from before."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of Android: namespace (`global`, `secure` or `system`) and key."""

    namespace: str
    key: str

    @property
    def kept_as(self) -> str:
        """The key in `global` that holds the value from before."""
        return KEPT_PREFIX + self.key


SCREEN_TIMEOUT = Setting("system", "screen_off_timeout")
STAY_ON = Setting("global", "stay_on_while_plugged_in")
INPUT_METHOD = Setting("secure", "default_input_method")


class KeptSettings:
    """The changed settings of one phone."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def get(self, setting: Setting) -> str | None:
        """The value now, None when there is none."""
        return await self._get(setting.namespace, setting.key)

    async def change(self, setting: Setting, value: str) -> bool:
        """Keeps the value from before, unless one is kept already, and sets the new one.

        False when the phone does not let adb change it: some makers want a switch of their own in the developer
        options ("USB debugging (Security settings)" at Xiaomi).
        """
        before = await self.get(setting)
        if before == value:
            return True
        if await self._get("global", setting.kept_as) is None:
            kept = await self._shell.run(
                command("settings", "put", "global", setting.kept_as, _ABSENT_MARK if before is None else before)
            )
            if kept.code:
                return False
        return await self._put(setting, value)

    async def restore(self, setting: Setting) -> None:
        """Puts the value from before back, if one is kept. What the person changed meanwhile is overwritten."""
        before = await self._get("global", setting.kept_as)
        if before is None:
            return
        if before == _ABSENT_MARK:
            await self._shell.run(command("settings", "delete", setting.namespace, setting.key))
        elif not await self._put(setting, before) and not (setting is INPUT_METHOD and await self._another_keyboard()):
            logger.warning("%s could not be put back on %s", setting.key, self._shell.connection.serial)
            return
        await self._shell.run(command("settings", "delete", "global", setting.kept_as))

    async def _another_keyboard(self) -> bool:
        """The person's own is not there any more: the first other one, so that they can type by hand."""
        now = await self.get(INPUT_METHOD)
        listed = (await self._shell.run("ime list -s")).out.split()
        other = next((each for each in listed if each != now), None)
        return other is not None and await self._put(INPUT_METHOD, other)

    async def _put(self, setting: Setting, value: str) -> bool:
        if setting is INPUT_METHOD:
            # The service checks that the method exists and enables it; writing the setting alone does neither.
            await self._shell.run(command("ime", "enable", value))
            return _SELECTED.search((await self._shell.run(command("ime", "set", value))).text) is not None
        return (await self._shell.run(command("settings", "put", setting.namespace, setting.key, value))).code == 0

    async def _get(self, namespace: str, key: str) -> str | None:
        value = (await self._shell.run(command("settings", "get", namespace, key))).out.strip()
        return None if value in {"", _ABSENT} else value
