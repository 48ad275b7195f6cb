"""Examines one phone, adb itself and this computer's USB in detail to find faults.

adb recognises a phone by its own interface (AOSP packages/modules/adb/adb.h: ADB_CLASS, ADB_SUBCLASS, ADB_PROTOCOL). A
phone that only offers its files has a camera's interface (PTP/MTP), and one in its bootloader has that of fastboot.
Linux shows the interfaces as files; on other systems nothing is found.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path

from devices.adb import host
from devices.adb.connection import Connection
from devices.adb.input_commands import BROADCAST_KEYBOARD
from devices.adb.input_driver import input_problem
from devices.adb.preparation import INPUT_METHOD, LIST_KEPT, SCREEN_TIMEOUT, STAY_ON, KeptSettings, kept_in
from devices.adb.server import READ_BY_ADB, ServerAddress, adb_binary
from devices.adb.shell import Shell, command, failure_in
from devices.errors import PhoneError, PhoneGone
from devices.processes import child_environment
from devices.wording import words

BUS = Path("/sys/bus/usb/devices")
_ADB = ("ff", "42", "01")
_FASTBOOT = ("ff", "42", "03")
_FILES = ("06", "01", "01")
MAKERS = {
    "04e8": "Samsung",
    "05c6": "Qualcomm",
    "0b05": "Asus",
    "0bb4": "HTC",
    "0e8d": "MediaTek",
    "0fce": "Sony",
    "1004": "LG",
    "12d1": "Huawei",
    "1782": "Unisoc",
    "17ef": "Lenovo",
    "18d1": "Google",
    "19d2": "ZTE",
    "1bbb": "TCL",
    "22b8": "Motorola",
    "22d9": "Oppo",
    "2717": "Xiaomi",
    "2a45": "Meizu",
    "2a70": "OnePlus",
    "2ae5": "Fairphone",
    "2d95": "vivo",
    "2e04": "HMD",
    "339b": "Honor",
}
"""Phone makers by USB vendor id, needed because cameras have the file interface too."""


class Lack(StrEnum):
    """Why adb does not list a phone."""

    DEBUGGING_OFF = auto()
    BOOTLOADER = auto()


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A phone on USB that adb does not list: the name that it reports, and why."""

    name: str
    lack: Lack


def unlisted(bus: Path = BUS) -> tuple[Unlisted, ...]:
    """Return the phones on USB that adb does not list. Blocks for a few small reads."""
    found = []
    for device in sorted(bus.glob("*")) if bus.is_dir() else ():
        if ":" in device.name or not (device / "idVendor").is_file():
            continue
        kinds = {_kind(interface) for interface in bus.glob(f"{device.name}:*")}
        if _FASTBOOT in kinds:
            found.append(Unlisted(_name(device), Lack.BOOTLOADER))
        elif _FILES in kinds and _ADB not in kinds and _read(device / "idVendor") in MAKERS:
            found.append(Unlisted(_name(device), Lack.DEBUGGING_OFF))
    return tuple(found)


def _kind(interface: Path) -> tuple[str, ...]:
    return tuple(_read(interface / f"bInterface{part}") for part in ("Class", "SubClass", "Protocol"))


def _name(device: Path) -> str:
    words = [_read(device / part) for part in ("manufacturer", "product")]
    return " ".join(dict.fromkeys(filter(None, words))) or MAKERS.get(_read(device / "idVendor"), device.name)


def _read(path: Path) -> str:
    try:
        return " ".join(path.read_text("utf-8", "replace").split())
    except OSError:
        return ""


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
        settings_refused=bool((await shell.run(_CHANGE, doing=words("phone.doing.examining"))).failure),
        animated=bool({*parts.get("animations", "0").split()} - _NO_ANIMATION),
        saver=parts.get("saver", "") == "1",
        aeroplane=parts.get("aeroplane", "") == "1",
        pointer=parts.get("pointer", "") == "1",
        language=next(iter(parts.get("language", "").split()), ""),
    )


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
            env=child_environment(READ_BY_ADB),
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
