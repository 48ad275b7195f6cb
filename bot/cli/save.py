"""`opengui save TASK as NAME`: a task that went well becomes a skill, once somebody has seen what would be saved."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from bot.cards.buttons import Deed, read_button
from bot.cli.exits import OK, USAGE
from bot.cli.prompt import somebody_is_there
from bot.cli.remote import Remote, running_service
from bot.cli.skill import quoted
from bot.config.settings import Settings
from bot.texts import say

if TYPE_CHECKING:
    from bot.cli.local import Local


async def save(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service, or do it here."""
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            return await _save(remote, options)
    # Here and not above: who asks a service does not load the agent.
    from bot.cli.local import own_core  # noqa: PLC0415 - see above

    async with own_core(settings) as local:
        return await _save(local, options)


async def _save(door: Local | Remote, options: argparse.Namespace) -> int:
    text = " ".join([options.task, *map(quoted, options.run)])
    said = await door.command("save", text)
    found = [data for each in said.buttons if (data := read_button(each)) is not None and data.deed is Deed.SAVE]
    if not found:
        print(say("cli.failed", prog="opengui save", why=said.text), file=sys.stderr)
        return USAGE
    print(said.text, flush=True)
    if not options.yes:
        if not somebody_is_there():
            print(say("cli.save.unseen"), file=sys.stderr)
            return USAGE
        answer = await asyncio.to_thread(input, say("cli.save.ask"))
        if answer.strip().casefold() not in {"y", "yes", "是", "好"}:
            print(say("cli.save.left"))
            return OK
    print((await door.command("save", draft=found[0].subject)).text)
    return OK
