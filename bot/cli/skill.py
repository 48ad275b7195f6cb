"""The commands `opengui skill NAME key=value …` and `save TASK as NAME`: run a skill as one task, shown like that of
`opengui do`, and save a successful task as a skill, after showing what would be saved.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from itertools import dropwhile, takewhile
from typing import Final

from bot.cli.control import service_or_own
from bot.cli.exits import OK, USAGE, Refused
from bot.cli.questions import somebody_is_there
from bot.cli.remote import LATEST
from bot.commands.parser import arguments_in
from bot.config.settings import Settings
from bot.domain.task_request import SkillCall, TaskDraft
from bot.texts import say


async def skill(options: argparse.Namespace, settings: Settings) -> int:
    """Give the skill's task to the running service, or run it in this process. Returns the exit code. Raises
    ServiceGone, SettingsError and StoreError.
    """
    draft = draft_of_words(options.skill, " ".join(map(quoted, options.values)), options.device)
    # Imported here because a plan with a skill uses this module but does not start a task yet.
    from bot.cli.do import start_task  # noqa: PLC0415 - see above

    return await start_task(draft, options, settings)


def draft_of_words(name: str, values: str, device: str = "") -> TaskDraft:
    """Return the draft of the task that runs this skill. `values` is what was typed after its name."""
    arguments, left = arguments_in(values)
    # Words that are not arguments are left for a model to interpret.
    text = say("skills.wish_with", name=name.lower(), values=values) if left else ""
    return TaskDraft(text, device, skill=SkillCall(name, arguments))


def quoted(value: str) -> str:
    """Quote a `key=value` shell argument as it would be typed in a chat, in quotes that the value does not contain."""
    name, equals, text = value.partition("=")
    pairs = (('"', '"'), ("'", "'"), ("“", "”"))
    first, last = next((pair for pair in pairs if pair[1] not in text), pairs[0])
    return f"{name}={first}{text}{last}" if equals else value


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
