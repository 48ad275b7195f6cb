"""The checks of adb and of each phone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from agent.guards.lexicon import has_table
from bot.checks.service import health, lane, none_attached
from bot.cli.phones import attached_phones
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.store.errors import DirectoryInUse
from bot.texts import say
from devices.adb.examination import Examination, Lack, client, examine, put_back, server_of, server_version, unlisted
from devices.adb.links import on_network, reconnecting
from devices.adb.server import ServerAddress
from devices.errors import PhoneError
from devices.wording import said, sentence_of

SLOW_S = 2.0
"""Seconds above which a phone counts as slow. Current ones answer in 0.3 s; a look at the screen takes several
answers.
"""
LITTLE_ROOM_KB = 200 * 1024
"""Kilobytes of free space that count as too little. Android warns below 500 MB and soon after refuses to write; a
task's pictures take a few MB.
"""


async def findings(settings: Settings, *, running: bool, mend: bool) -> AsyncGenerator[Finding, None]:
    """Check adb and the phones, and yield the findings. `mend` restores phone settings that a task left changed, unless
    a service is `running`.
    """
    servers = tuple(ServerAddress(host, port) for host, port in settings.adb_servers)
    try:
        async with attached_phones(settings) as rows:
            yield await _client()
            for address in servers:
                yield await _server(address)
            async for finding in _on_usb():
                yield finding
            if not rows:
                yield none_attached()
            for row in rows:
                yield health(row)
                for finding in lane(row):
                    yield finding
                if row["usable"] and not row.get("host"):
                    async for finding in _closer(row, servers, running=running, mend=mend):
                        yield finding
    except DirectoryInUse as busy:
        yield Finding("service", "bad", said(sentence_of(busy)))


async def _client() -> Finding:
    try:
        path, version = await client()
    except PhoneError as error:
        return Finding("adb", "bad", said(sentence_of(error)), say("check.adb.client_fix"))
    return Finding("adb", "good", say("check.adb.client", version=version, path=path))


async def _server(address: ServerAddress) -> Finding:
    try:
        version = await server_version(address)
    except PhoneError as error:
        start = "adb start-server" if address.local else "adb -a nodaemon server start"
        return Finding("adb", "bad", said(sentence_of(error)), say("check.adb.server_fix", start=start))
    return Finding("adb", "good", say("check.adb.server", address=address, version=version))


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
            text = say("check.phone.untouchable", name=name, why=said(found.touch_problem))
            yield Finding("phone", "bad", text, say("check.phone.untouchable_fix"))
        if found.free_kb is not None and found.free_kb < LITTLE_ROOM_KB:
            text = say("check.phone.full", name=name, megabytes=found.free_kb // 1024)
            yield Finding("phone", "bad", text, say("check.phone.full_fix"))
        if found.settings_refused:
            yield Finding("phone", "bad", say("check.phone.fixed", name=name), say("check.phone.untouchable_fix"))
        for finding in _notes(name, row, found):
            yield finding
        if found.left or found.broadcast_keyboard:
            if mend and not running:
                await put_back(address, serial, found)
                found = await examine(address, serial)
            yield _left(name, found, running=running, mended=mend)
    except PhoneError as error:
        text = say("check.phone.unexamined", name=name, why=said(sentence_of(error)))
        yield Finding("phone", "bad", text, said(reconnecting(serial)))


def _answers(name: str, row: dict[str, Any], found: Examination) -> Finding:
    facts = [say("check.phone.answers", seconds=f"{found.seconds:.1f}")]
    facts += [say("check.phone.battery", percent=row["battery"])] if row["battery"] is not None else []
    facts += [say("check.phone.free", gigabytes=f"{found.free_kb / 1024**2:.1f}")] if found.free_kb is not None else []
    text = say("check.phone.facts", name=name, facts=" · ".join(facts))
    if found.seconds > SLOW_S:
        return Finding("phone", "note", text, say("check.phone.slow_fix"))
    return Finding("phone", "good", text)


def _notes(name: str, row: dict[str, Any], found: Examination) -> Iterator[Finding]:
    """What is worth knowing about a phone that works before a task meets it: its limits, a language whose words the
    rules do not include, and settings that were switched on by hand and make tasks slower or fail.
    """
    network = on_network(row["serial"]) and not row["virtual"]
    language = say("check.phone.language", name=name, language=found.language)
    noted = (
        (found.pin, say("check.phone.lock", name=name), say("check.phone.lock_fix")),
        (not found.types_all, say("check.phone.keyboard", name=name), say("check.phone.keyboard_fix")),
        (network, say("check.phone.network", name=name), say("check.phone.network_fix")),
        (found.wireless and not network, say("check.phone.wireless", name=name), say("check.phone.wireless_fix")),
        (found.language and not has_table(found.language), language, say("check.phone.language_fix")),
        (found.animated, say("check.phone.animated", name=name), say("check.phone.animated_fix")),
        (found.saver, say("check.phone.saver", name=name), say("check.phone.saver_fix")),
        (found.aeroplane, say("check.phone.aeroplane", name=name), say("check.phone.aeroplane_fix")),
        (found.pointer, say("check.phone.pointer", name=name), say("check.phone.pointer_fix")),
    )
    yield from (Finding("phone", "note", text, fix) for holds, text, fix in noted if holds)


async def _on_usb() -> AsyncIterator[Finding]:
    """Phones connected to this computer by USB that adb does not list."""
    for phone in await asyncio.to_thread(unlisted):
        if phone.lack is Lack.BOOTLOADER:
            yield Finding("phone", "bad", say("check.usb.bootloader", name=phone.name), say("check.usb.bootloader_fix"))
        else:
            fix = say("check.usb.no_debugging_fix")
            yield Finding("phone", "bad", say("check.usb.no_debugging", name=phone.name), fix)


def _left(name: str, found: Examination, *, running: bool, mended: bool) -> Finding:
    what = "keyboard" if found.broadcast_keyboard else "settings"
    if running:
        return Finding("phone", "note", say(f"check.phone.works_with.{what}", name=name))
    if not found.left and not found.broadcast_keyboard:
        return Finding("phone", "good", say("check.phone.put_back", name=name))
    fix = say("check.phone.left.by_hand") if mended else "opengui doctor --mend"
    return Finding("phone", "bad", say(f"check.phone.left.{what}", name=name), fix)
