"""The `opengui watch PLAN` command: creates a watch, after showing what would be read and reported."""

from __future__ import annotations

import argparse
import asyncio
import sys

from bot.cli.control import service_of
from bot.cli.exits import OK, USAGE, Refused
from bot.cli.prompt import somebody_is_there
from bot.cli.schedules import planned
from bot.config.settings import Settings
from bot.domain.watch import split_watch
from bot.texts import say


async def watch(options: argparse.Namespace, settings: Settings) -> int:
    """Have the running service create the watch. Returns the exit code. Raises Refused and ServiceGone."""
    example = say("command.watch.example")
    if (found := split_watch(options.text)) is None:
        raise Refused(say("watch.no_condition", example=example))
    plan, words = found
    async with service_of(settings) as remote:
        wish = await planned(options, plan, example, remote)
        made = await remote.send("/api/v1/schedules", tell_me_when=words, **wish)
        print(made["told"], flush=True)
        if not options.yes:
            if not somebody_is_there():
                await remote.change_schedule("remove", made["id"])
                print(say("cli.watch.unseen"), file=sys.stderr)
                return USAGE
            answer = await asyncio.to_thread(input, say("cli.watch.ask"))
            if answer.strip().casefold() not in {"y", "yes", "是", "好"}:
                print(await remote.change_schedule("remove", made["id"]))
                return OK
        print(await remote.change_schedule("resume", made["id"]))
    return OK
