"""`opengui watch PLAN`: a watch, once somebody has seen what would be read and told."""

from __future__ import annotations

import argparse
import asyncio
import sys

from bot.cards.buttons import Deed, read_button
from bot.cli.control import service_of, typed
from bot.cli.exits import OK, USAGE
from bot.cli.prompt import somebody_is_there
from bot.config.settings import Settings
from bot.texts import say


async def watch(options: argparse.Namespace, settings: Settings) -> int:
    """Have the running service keep it. Raises Refused and ServiceGone."""
    async with service_of(settings) as remote:
        said = await remote.command("watch", options.text, **typed(options))
        print(said.text, flush=True)
        found = [
            data for each in said.buttons if (data := read_button(each)) is not None and data.deed is Deed.SCHEDULE
        ]
        number = next(data.subject for data in found if data.choice == "resume")
        if not options.yes:
            if not somebody_is_there():
                await remote.command("schedules", f"remove {number}")
                print(say("cli.watch.unseen"), file=sys.stderr)
                return USAGE
            answer = await asyncio.to_thread(input, say("cli.watch.ask"))
            if answer.strip().casefold() not in {"y", "yes", "是", "好"}:
                print((await remote.command("schedules", f"remove {number}")).text)
                return OK
        print((await remote.command("schedules", f"resume {number}")).text)
    return OK
