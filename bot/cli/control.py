"""Commands that the running service does as if its operator had typed them: cancel, pause, resume, again, schedule."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.cli.exits import OK, ServiceGone
from bot.cli.remote import Remote, running_service
from bot.config.settings import Settings
from bot.texts import say


@asynccontextmanager
async def service_of(settings: Settings) -> AsyncIterator[Remote]:
    """The running service. Raises ServiceGone when there is none."""
    async with running_service(settings.data_dir) as remote:
        if remote is None:
            raise ServiceGone(say("cli.remote.none", directory=settings.data_dir))
        yield remote


async def control(options: argparse.Namespace, settings: Settings) -> int:
    """Give the command, and print what the service says. Raises Refused and ServiceGone."""
    given = {name: value for name in ("task", "device") if (value := getattr(options, name, ""))}
    given |= {"quick": "true"} if getattr(options, "quick", False) else {}
    async with service_of(settings) as remote:
        said = await remote.command(options.name, getattr(options, "text", ""), **given)
    print(said.text)
    return OK


async def given_to_any(name: str, text: str, settings: Settings) -> int:
    """Give the command to the running service, or do it here when there is none, and print what it says. Raises Refused
    and StoreError.
    """
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            print((await remote.command(name, text)).text)
            return OK
    # Here and not above: who asks a service does not load the agent.
    from bot.cli.local import own_core  # noqa: PLC0415 - see above

    async with own_core(settings) as local:
        print((await local.command(name, text)).text)
    return OK
