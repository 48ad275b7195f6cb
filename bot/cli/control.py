"""The commands that control one task (cancel, pause, resume, again), and the choice between the running service and
this process.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bot.cli.exits import OK, ServiceGone
from bot.cli.remote import Remote, running_service, task_path
from bot.config.settings import Settings, record_url
from bot.texts import say

if TYPE_CHECKING:
    from bot.cli.local import Local
    from bot.store.store import Store


@asynccontextmanager
async def service_of(settings: Settings, without: str = "") -> AsyncIterator[Remote]:
    """Yield a connection to the running service. Raises ServiceGone, with the text of `without`, if none runs."""
    async with running_service(settings.data_dir) as remote:
        if remote is None:
            raise ServiceGone(without or say("cli.remote.none", directory=settings.data_dir))
        yield remote


@asynccontextmanager
async def own_store(settings: Settings) -> AsyncIterator[Store]:
    """Open the store (the database) for reading while no service uses it. Raises StoreError and SettingsError."""
    # Imported here so that asking a service loads no database.
    from bot.store.directory import DataDirectory  # noqa: PLC0415 - see above
    from bot.store.store import Store  # noqa: PLC0415 - see above

    with DataDirectory(settings.data_dir):
        store = await Store.open(settings.data_dir, url=record_url(settings), owns=True)
        try:
            yield store
        finally:
            await store.close()


@asynccontextmanager
async def service_or_own(settings: Settings) -> AsyncIterator[Local | Remote]:
    """Yield the running service or, if none runs, a stand-in that does the same in this process. Raises ServiceGone,
    SettingsError and StoreError.
    """
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            yield remote
            return
    # Imported here so that asking a service does not load the agent.
    from bot.cli.local import own_core  # noqa: PLC0415 - see above

    async with own_core(settings) as local:
        yield local


async def control(options: argparse.Namespace, settings: Settings) -> int:
    """Carry out the command and print the service's reply. Returns the exit code. Raises Refused and ServiceGone."""
    body: dict[str, Any] = {}
    match options.name:
        case "resume":
            body = {"text": options.text}
        case "again":
            body = {"changes": options.text, "phone": options.device, "quick": options.quick or None}
    async with service_of(settings) as remote:
        done = await remote.send(f"{task_path(options.task)}/{options.name}", **body)
    print(done["told"])
    return OK
