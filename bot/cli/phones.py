"""The commands `opengui devices`, `screen` and `phone`: list the phones, save a phone's current screen, and run virtual
phones.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from bot.cli.control import own_store, service_of
from bot.cli.exits import OK, UNAVAILABLE, Refused
from bot.cli.remote import Remote, running_service
from bot.cli.terminal import complain, padded, print_rows
from bot.config.installation import lack_of
from bot.config.settings import Settings
from bot.texts import listed, paragraph, say
from devices.extras import Extra, is_installed
from devices.virtual import ABSENT, virtual_phones
from devices.wording import said

NAME_CELLS = 20
STATE_CELLS = 13


async def devices(options: argparse.Namespace, settings: Settings) -> int:
    """List the phones as the running service sees them, or look for them from this process. Returns the exit code.
    Raises what `attached_phones` raises.
    """
    async with attached_phones(settings) as rows:
        return print_rows(rows, _line, say("cli.devices.none"), as_json=options.json)


def _line(row: dict[str, Any]) -> str:
    state = padded(say(f"page.health.{row['state'].replace(' ', '_')}"), STATE_CELLS)
    where = say("cli.devices.host", host=row["host"]) if row.get("host") else ""
    why = paragraph(row["reason"], row["fix"])
    parts = (padded(row["name"], NAME_CELLS), state, row["serial"], where, _lane(row), why)
    return "  ".join(part for part in parts if part.strip())


def _lane(row: dict[str, Any]) -> str:
    """What is worth saying about a phone's fast lane: that it is in use, or why it was abandoned."""
    if row.get("lane") == "fast":
        return say("cli.devices.fast_pictures") if row.get("pictures") == "fast" else say("cli.devices.fast")
    return say("cli.devices.plain", why=row["lane_reason"]) if row.get("lane_reason") else ""


@asynccontextmanager
async def attached_phones(settings: Settings) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the phones as plain objects, from the running service or found by this process; they stay connected until
    the block ends.

    Raises DirectoryInUse if a service runs but cannot be asked, because its virtual phones must not be started twice;
    also ServiceGone, SettingsError and StoreError.
    """
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            yield await remote.phones()
            return
    # Imported here so that asking a service does not load the agent.
    from bot.views.tasks import phone_json  # noqa: PLC0415 - see above
    from bot.wiring.core import phones_of  # noqa: PLC0415 - see above

    async with own_store(settings) as store:
        phones = phones_of(settings, store.phone_names)
        try:
            await phones.start()
            yield [phone_json(phone, ()) for phone in await phones.refresh()]
        finally:
            await phones.stop()


STANDARD_OUTPUT: Final = "-"


async def screen(options: argparse.Namespace, settings: Settings) -> int:
    """Write the screenshot. Returns the exit code. Raises Refused and ServiceGone."""
    async with service_of(settings) as remote:
        phone = options.device or await _meant(remote)
        picture = await remote.screen(phone)
        now = await remote.read(f"/api/v1/phones/{quote(phone, safe='')}")
    if options.output == STANDARD_OUTPUT:
        await asyncio.to_thread(sys.stdout.buffer.write, picture)
        return OK
    try:
        await asyncio.to_thread(Path(options.output).write_bytes, picture)
    except OSError as error:
        raise Refused(say("cli.do.unread", file=options.output, reason=error.strerror)) from error
    print(say("cli.screen.written", file=options.output, shows=f"{now['name']} {now['app_name'] or now['app']}"))
    return OK


async def _meant(remote: Remote) -> str:
    """Choose the only phone, or else the latest task's. Raises Refused."""
    phones: dict[str, str] = {row["id"]: row["name"] for row in await remote.phones()}
    if not phones:
        raise Refused(say("phone.none"))
    if len(phones) == 1:
        return next(iter(phones))
    tasks = await remote.tasks()
    if tasks and tasks[0]["phone"] in phones:
        return str(tasks[0]["phone"])
    raise Refused(say("screen.which", names=listed(phones.values())))


async def phone(options: argparse.Namespace, settings: Settings) -> int:
    """Serve virtual phones until a signal, connected to the first adb server unless an option names another. Returns
    the exit code.
    """
    part = virtual_phones()
    if part is None or not is_installed(Extra.VIRTUAL_PHONE):
        why = said(lack_of(Extra.VIRTUAL_PHONE)) if part is not None else say("cli.phone.failed", problem=ABSENT)
        return complain(why, code=UNAVAILABLE)
    try:
        await part.run(options, adb=settings.adb_servers[0])
    except OSError as problem:
        return complain(say("cli.phone.failed", problem=problem), code=UNAVAILABLE)
    return OK
