"""adb and each phone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from bot.checks.finding import Finding
from bot.checks.phones import NONE_ATTACHED, health
from bot.cli.devices import attached_phones
from bot.settings import Settings
from bot.store.errors import DirectoryInUse
from devices.adb.examination import Examination, client, examine, put_back, server_of, server_version
from devices.adb.server import ServerAddress
from devices.errors import PhoneError

SLOW_S = 2.0
"""Seconds; a phone of today answers in 0.3 s, and every look at the screen takes a few such answers."""
LITTLE_ROOM_KB = 200 * 1024
"""Android itself warns below 500 MB and refuses to write a little later; pictures for a task take a few MB."""


async def findings(settings: Settings, *, running: bool, mend: bool) -> AsyncIterator[Finding]:
    """Everything about adb and phones. `mend` puts back what a run left, unless a service is `running`."""
    servers = tuple(ServerAddress(host, port) for host, port in settings.adb_servers)
    try:
        async with attached_phones(settings) as rows:
            yield await _client()
            for address in servers:
                yield await _server(address)
            if not rows:
                yield NONE_ATTACHED
            for row in rows:
                yield health(row)
                if row["usable"]:
                    async for finding in _closer(row, servers, running=running, mend=mend):
                        yield finding
    except DirectoryInUse as busy:
        yield Finding("service", "bad", str(busy))


async def _client() -> Finding:
    try:
        path, version = await client()
    except PhoneError as error:
        return Finding("adb", "bad", str(error), "Install this program again, or set ADBUTILS_ADB_PATH to an adb.")
    return Finding("adb", "good", f"adb {version} ({path})")


async def _server(address: ServerAddress) -> Finding:
    try:
        version = await server_version(address)
    except PhoneError as error:
        start = "adb start-server" if address.local else "adb -a nodaemon server start"
        return Finding("adb", "bad", str(error), f"Start it on its machine with `{start}`, or check ADB_SERVERS.")
    return Finding("adb", "good", f"The adb server at {address} answers (version {version}).")


async def _closer(
    row: dict[str, Any], servers: tuple[ServerAddress, ...], *, running: bool, mend: bool
) -> AsyncIterator[Finding]:
    name, serial = row["name"], row["serial"]
    try:
        address = await server_of(servers, serial)
        if address is None:
            return
        found = await examine(address, serial)
        yield _answers(name, row, found)
        if found.touch_problem:
            fix = "Switch on what its maker asks for beside USB debugging; see docs/phones.md."
            yield Finding("phone", "bad", f"{name} cannot be touched: {found.touch_problem}", fix)
        if found.free_kb is not None and found.free_kb < LITTLE_ROOM_KB:
            text = f"{name} has only {found.free_kb // 1024} MB of free storage."
            yield Finding("phone", "bad", text, "Delete something on the phone.")
        for finding in _limits(name, row, found):
            yield finding
        if found.left or found.broadcast_keyboard:
            if mend and not running:
                await put_back(address, serial, found)
                found = await examine(address, serial)
            yield _left(name, found, running=running, mended=mend)
    except PhoneError as error:
        yield Finding("phone", "bad", f"{name} could not be examined: {error}", "Unplug it and plug it in again.")


def _answers(name: str, row: dict[str, Any], found: Examination) -> Finding:
    facts = [f"answers in {found.seconds:.1f} s"]
    facts += [f"battery {row['battery']} %"] if row["battery"] is not None else []
    facts += [f"{found.free_kb / 1024**2:.1f} GB free"] if found.free_kb is not None else []
    text = f"{name}: {', '.join(facts)}"
    if found.seconds > SLOW_S:
        return Finding("phone", "note", text, "That is slow: try another cable or port, or restart the phone.")
    return Finding("phone", "good", text)


def _limits(name: str, row: dict[str, Any], found: Examination) -> Iterator[Finding]:
    """What works, with a limit that is better known before a task meets it."""
    if found.pin:
        text = f"{name} has a screen lock with a PIN, pattern or password: a task that finds it locked asks for you."
        yield Finding("phone", "note", text, "Take the lock off if the phone is to work while nobody is there.")
    if not found.types_all:
        text = f"{name} has no ADBKeyboard: other scripts than Latin go only into empty fields, by the fast lane."
        yield Finding("phone", "note", text, "Install ADBKeyboard; see docs/phones.md.")
    if ":" in row["serial"] and not row["virtual"]:
        text = f"{name} is connected over the network: after a restart it may have another port, or none."
        fix = "Use a cable, or `adb connect` it anew and put the new address into ANDROID_SERIALS."
        yield Finding("phone", "note", text, fix)
    elif found.wireless:
        text = f"{name} has Wi-Fi debugging on although a cable is used: computers that were paired reach it."
        yield Finding("phone", "note", text, "Switch it off in the developer options if nobody needs it.")


def _left(name: str, found: Examination, *, running: bool, mended: bool) -> Finding:
    what = "the bot's keyboard" if found.broadcast_keyboard else "changed settings"
    if running:
        return Finding("phone", "note", f"{name} has {what}: a run works on it, or its own come back after the next.")
    if not found.left and not found.broadcast_keyboard:
        return Finding("phone", "good", f"{name} has its own keyboard and settings again.")
    fix = "Choose a keyboard in the phone's settings." if mended else "opengui doctor --mend"
    return Finding("phone", "bad", f"A run that crashed has left {what} on {name}.", fix)
