"""`opengui devices`: the phones, and what is wrong with those that cannot be used."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot.cli.exits import OK
from bot.cli.remote import running_service
from bot.settings import Settings
from bot.store.directory import DataDirectory
from bot.tasks.views import lane_of, phone_json


async def devices(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service, or look for phones here."""
    rows = await device_rows(settings)
    for row in rows:
        if options.json:
            print(json.dumps(row, ensure_ascii=False))
        else:
            trouble = f"  {row['reason']} {row['fix']}".rstrip()
            print(f"{row['name']:<20}  {row['state']:<13}  {row['serial']}{lane_of(row)}{trouble}")
    if not rows and not options.json:
        print("No phone is attached. Plug one in with USB debugging on, or set VIRTUAL_PHONES=1.")
    return OK


async def device_rows(settings: Settings) -> list[dict[str, Any]]:
    """The phones as plain objects. Raises as `attached_phones`."""
    async with attached_phones(settings) as rows:
        return rows


@asynccontextmanager
async def attached_phones(settings: Settings) -> AsyncIterator[list[dict[str, Any]]]:
    """The phones as plain objects, from the running service or looked for here; then they stay until the block ends.

    Raises DirectoryInUse when a service runs that cannot be asked: its virtual phones must not be started twice.
    """
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            yield await remote.listed("devices")
            return
    # Here and not above: who asks a service does not load the agent.
    from bot.core import phones_of  # noqa: PLC0415 - see above
    from bot.store.store import Store  # noqa: PLC0415 - see above

    with DataDirectory(settings.data_dir):
        store = await Store.open(settings.data_dir)
        phones = phones_of(settings, store.phone_names)
        try:
            await phones.start()
            yield [phone_json(phone, ()) for phone in await phones.refresh()]
        finally:
            await phones.stop()
            await store.close()
