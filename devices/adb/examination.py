"""Examines one phone, and adb itself, in detail to find faults."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from dataclasses import dataclass

from devices.adb import host
from devices.adb.connection import Connection
from devices.adb.input_driver import input_problem
from devices.adb.preparation import INPUT_METHOD, LIST_KEPT, SCREEN_TIMEOUT, STAY_ON, KeptSettings, kept_in
from devices.adb.quoting import command
from devices.adb.server import ServerAddress, adb_binary, adb_environment
from devices.adb.shell import Shell, failure_in
from devices.adb.text_entry import BROADCAST_KEYBOARD
from devices.errors import PhoneError, PhoneGone
from devices.wording import words

VERSION_TIMEOUT = 5.0

_QUESTIONS = (
    "echo @@keyboard; settings get secure default_input_method; echo @@keyboards; ime list -s; "
    "echo @@installed; ime list -s -a; echo @@wireless; settings get global adb_wifi_enabled; "
    "echo @@lock; dumpsys window policy | grep -E '^ *secure='; "
    f"echo @@kept; {LIST_KEPT}; echo @@room; df -k /sdcard; "
    "echo @@animations; settings get global window_animation_scale; settings get global transition_animation_scale; "
    "settings get global animator_duration_scale; echo @@saver; settings get global low_power; "
    "echo @@aeroplane; settings get global airplane_mode_on; echo @@pointer; settings get system pointer_location; "
    "echo @@language; getprop persist.sys.locale; getprop ro.product.locale"
)
_PROBE = "opengui_probe"
_CHANGE = f"{command('settings', 'put', 'global', _PROBE, 1)} && {command('settings', 'delete', 'global', _PROBE)}"
"""Writes and deletes a setting that nothing reads, to test the permission."""
_HARMLESS = command("input", "keyevent", 1)
"""KEYCODE_SOFT_LEFT, a key from before touch screens: it does not wake the screen, and current apps ignore it."""
_NO_ANIMATION = frozenset({"0", "0.0"})
_ROOM = re.compile(r"^\S+\s+\d+\s+\d+\s+(\d+)\s+\d+%", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found on a phone.

    - `seconds`: How long the phone took to answer.
    - `keyboard`: The selected input method.
    - `keyboards`: All enabled input methods.
    - `left`: Keys of settings that a run changed and did not restore; () also if they could not be listed.
    - `free_kb`: Free space of the shared storage in KiB; None if unknown.
    - `touch_problem`: Why adb may not touch the screen; "" if it may.
    - `types_all`: Whether ADBKeyboard is installed, for scripts that Android's own input cannot type.
    - `wireless`: Whether Wi-Fi debugging is on.
    - `pin`: Whether a PIN, pattern or password is set.
    - `animated`: Whether animations are on.
    - `saver`: Whether battery saver is on.
    - `aeroplane`: Whether aeroplane mode is on.
    """

    seconds: float
    keyboard: str
    keyboards: tuple[str, ...]
    left: tuple[str, ...]
    free_kb: int | None
    touch_problem: str
    types_all: bool = True
    wireless: bool = False
    pin: bool = False
    settings_refused: bool = False
    """Whether adb may not change settings, so the screen cannot be kept on and no keyboard selected."""
    animated: bool = False
    saver: bool = False
    aeroplane: bool = False
    pointer: bool = False
    """Whether Android draws a cross and coordinates at each touch, over every screen."""
    language: str = ""
    """The phone's locale, such as "zh-Hans-CN"; "" if unknown."""

    @property
    def broadcast_keyboard(self) -> bool:
        """Whether ADBKeyboard, which the bot types with, is selected, so that nobody can type by hand."""
        return self.keyboard == BROADCAST_KEYBOARD


async def examine(address: ServerAddress, serial: str) -> Examination:
    """Examine the phone. Raises PhoneGone, PhoneUnavailable, PhoneTimeout.

    To test the permissions, this sends one key that does nothing, and writes and deletes a setting that nothing reads.
    """
    shell = Shell(Connection(address, serial))
    began = time.monotonic()
    answer = (await shell.run(_QUESTIONS, doing=words("phone.doing.examining"))).out
    seconds = time.monotonic() - began
    told = re.findall(r"@@(\w+)\r?\n((?:(?!@@).*\n?)*)", answer)
    left = next((kept_in(text) for name, text in told if name == "kept"), None)
    parts = {name: text.strip() for name, text in told if not failure_in(text)}
    room = _ROOM.search(parts.get("room", ""))
    return Examination(
        seconds=seconds,
        keyboard=parts.get("keyboard", ""),
        keyboards=tuple(parts.get("keyboards", "").split()),
        left=left or (),
        free_kb=int(room.group(1)) if room else None,
        touch_problem=input_problem(await shell.run(_HARMLESS, doing=words("phone.doing.trying"))),
        types_all=BROADCAST_KEYBOARD in parts.get("installed", "").split(),
        wireless=parts.get("wireless", "") == "1",
        pin="secure=true" in parts.get("lock", ""),
        settings_refused=await _refuses_settings(shell),
        animated=bool({*parts.get("animations", "0").split()} - _NO_ANIMATION),
        saver=parts.get("saver", "") == "1",
        aeroplane=parts.get("aeroplane", "") == "1",
        pointer=parts.get("pointer", "") == "1",
        language=next(iter(parts.get("language", "").split()), ""),
    )


async def _refuses_settings(shell: Shell) -> bool:
    changed = await shell.run(_CHANGE, doing=words("phone.doing.examining"))
    return bool(changed.failure)


async def put_back(address: ServerAddress, serial: str, found: Examination) -> None:
    """Restore settings that a run left changed on the phone. Only to be called while no run uses it.

    If ADBKeyboard is still selected afterwards, the first other enabled input method is selected. Raises as `examine`,
    and CommandFailed if the phone cannot read the setting.
    """
    shell = Shell(Connection(address, serial))
    settings = KeptSettings(shell)
    for setting in (INPUT_METHOD, SCREEN_TIMEOUT, STAY_ON):
        await settings.restore(setting)
    if await settings.get(INPUT_METHOD) == BROADCAST_KEYBOARD:
        other = next((each for each in found.keyboards if each != BROADCAST_KEYBOARD), None)
        if other is not None:
            await shell.run(command("ime", "set", other), doing=words("phone.doing.choosing"))


async def server_of(servers: tuple[ServerAddress, ...], serial: str) -> ServerAddress | None:
    """Return the first of these servers that lists this phone; None if none does."""
    for address in servers:
        with contextlib.suppress(PhoneError):
            if serial in await host.states(address):
                return address
    return None


async def server_version(address: ServerAddress) -> int:
    """Return the version of the adb server's protocol, such as 41. Raises PhoneGone, PhoneTimeout."""
    answer = await host.ask(address, "host:version")
    try:
        return int(answer, 16)
    except ValueError as odd:
        raise PhoneGone(words("phone.error.server_other", address=address), uncertain=False) from odd


async def client() -> tuple[str, str]:
    """Return the path of the adb program and its version as text. Raises PhoneGone if it does not run, or not end in
    time.
    """
    path = adb_binary()
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            "version",
            env=adb_environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(VERSION_TIMEOUT):
                said, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    except (OSError, TimeoutError) as failure:
        why = words("phone.error.client", path=path, problem=type(failure).__name__)
        raise PhoneGone(why, uncertain=False) from failure
    version = re.search(rb"^Version (\S+)", said, re.MULTILINE)
    return path, version.group(1).decode() if version else "of unknown version"
