"""`opengui skill NAME key=value …`: a skill as one task, told and ended as that of `opengui do`."""

from __future__ import annotations

import argparse

from bot.cli.do import give
from bot.commands.skill_arguments import arguments_in
from bot.config.settings import Settings
from bot.domain.task_request import SkillCall, TaskDraft
from bot.texts import say


async def skill(options: argparse.Namespace, settings: Settings) -> int:
    """Hand it to the running service, or do it here."""
    values = " ".join(map(quoted, options.values))
    arguments, left = arguments_in(values)
    # Words that are no arguments are for a model.
    text = say("skills.wish_with", name=options.skill.lower(), values=values) if left else ""
    draft = TaskDraft(text, options.device, skill=SkillCall(options.skill, arguments))
    return await give(draft, options, settings)


def quoted(value: str) -> str:
    """A `key=value` of the shell as it is typed in a chat: a value with blanks in quotes, of a kind that it has not."""
    name, equals, text = value.partition("=")
    pairs = (('"', '"'), ("'", "'"), ("“", "”"))
    first, last = next((pair for pair in pairs if pair[1] not in text), pairs[0])
    return f"{name}={first}{text}{last}" if equals else value
