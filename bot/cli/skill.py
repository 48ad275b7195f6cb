"""`opengui skill NAME key=value …`: a skill as one task, told and ended as that of `opengui do`."""

from __future__ import annotations

import argparse

from bot.commands.skill_arguments import arguments_in
from bot.config.settings import Settings
from bot.domain.task_request import SkillCall, TaskDraft
from bot.texts import say


async def skill(options: argparse.Namespace, settings: Settings) -> int:
    """Hand it to the running service, or do it here."""
    draft = draft_of_words(options.skill, " ".join(map(quoted, options.values)), options.device)
    # Here and not above: a plan with a skill is given to nobody yet.
    from bot.cli.do import give  # noqa: PLC0415 - see above

    return await give(draft, options, settings)


def draft_of_words(name: str, values: str, device: str = "") -> TaskDraft:
    """The task that follows a skill, with what is written behind its name."""
    arguments, left = arguments_in(values)
    # Words that are no arguments are for a model.
    text = say("skills.wish_with", name=name.lower(), values=values) if left else ""
    return TaskDraft(text, device, skill=SkillCall(name, arguments))


def quoted(value: str) -> str:
    """A `key=value` of the shell as it is typed in a chat: a value with blanks in quotes, of a kind that it has not."""
    name, equals, text = value.partition("=")
    pairs = (('"', '"'), ("'", "'"), ("“", "”"))
    first, last = next((pair for pair in pairs if pair[1] not in text), pairs[0])
    return f"{name}={first}{text}{last}" if equals else value
