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
