"""The `opengui save TASK as NAME` command: saves a successful task as a skill, after showing what would be saved."""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from itertools import dropwhile, takewhile
from typing import Final

from bot.cli.control import service_or_own
from bot.cli.exits import OK, USAGE, Refused
from bot.cli.prompt import somebody_is_there
from bot.cli.remote import LATEST
from bot.cli.skill import quoted
from bot.commands.skill_arguments import arguments_in
from bot.config.settings import Settings
from bot.texts import say

_TASK: Final = re.compile(r"#?\d{1,18}(\.[^\s.]{1,64})?")


async def save(options: argparse.Namespace, settings: Settings) -> int:
    """Save a task as a skill, in the running service or in this process. Returns the exit code. Raises Refused,
    ServiceGone, SettingsError and StoreError.
    """
    words = [options.task, *options.run]
    task = words.pop(0).removeprefix("#") if _TASK.fullmatch(words[0]) else LATEST
    named = words[0] in {"as", "为"}
    if not named and task == LATEST:
        raise Refused(say("save.usage", prefix=""))
    words = words[named:]
    name = "-".join(takewhile(lambda word: "=" not in word, words))
    given, left = arguments_in(" ".join(quoted(word) for word in dropwhile(lambda word: "=" not in word, words)))
    if left:
        raise Refused(say("save.left_over", text=left[:40]))
    async with service_or_own(settings) as door:
        draft = await door.draft_skill(task, name, given or None)
        print(say("save.heading", name=draft["name"]), draft["told"], sep="\n", flush=True)
        if not options.yes:
            if not somebody_is_there():
                print(say("cli.save.unseen"), file=sys.stderr)
                return USAGE
            answer = await asyncio.to_thread(input, say("cli.save.ask"))
            if answer.strip().casefold() not in {"y", "yes", "是", "好"}:
                print(say("cli.save.left"))
                return OK
        print(await door.save_skill(draft["id"]))
    return OK
