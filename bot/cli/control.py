"""Commands that the running service does as if its operator had typed them: cancel, pause, resume, again, schedule."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.cli.exits import OK, ServiceGone
from bot.cli.remote import Remote, running_service
from bot.config.settings import Settings
from bot.domain.task_request import TaskOptions
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
    async with service_of(settings) as remote:
        said = await remote.command(options.name, getattr(options, "text", ""), **typed(options))
    print(said.text)
    return OK


def typed(options: argparse.Namespace) -> dict[str, str]:
    """The options that are set, as a command takes them."""
    given = {name: getattr(options, name, "") for name in ("task", "device", *TaskOptions.model_fields)}
    return {name: "true" if value is True else value for name, value in given.items() if value}


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
