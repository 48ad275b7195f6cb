"""The `opengui devices` command: lists the phones, and what is wrong with those that cannot be used."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot.cli.control import own_store
from bot.cli.exits import OK
from bot.cli.remote import running_service
from bot.cli.terminal import padded
from bot.config.settings import Settings
from bot.texts import paragraph, say

NAME_CELLS = 20
STATE_CELLS = 13


async def devices(options: argparse.Namespace, settings: Settings) -> int:
    """List the phones as the running service sees them, or look for them from this process. Returns the exit code.
    Raises what `attached_phones` raises.
    """
    rows = await device_rows(settings)
    for row in rows:
        if options.json:
            print(json.dumps(row, ensure_ascii=False))
        else:
            print(_line(row))
    if not rows and not options.json:
        print(say("cli.devices.none"))
    return OK


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


async def device_rows(settings: Settings) -> list[dict[str, Any]]:
    """Return the phones as plain objects. Raises what `attached_phones` raises."""
    async with attached_phones(settings) as rows:
        return rows


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
