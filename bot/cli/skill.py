"""The `opengui skill NAME key=value …` command: runs a skill as one task, shown like that of `opengui do`."""

from __future__ import annotations

import argparse

from bot.commands.skill_arguments import arguments_in
from bot.config.settings import Settings
from bot.domain.task_request import SkillCall, TaskDraft
from bot.texts import say


async def skill(options: argparse.Namespace, settings: Settings) -> int:
    """Give the skill's task to the running service, or run it in this process. Returns the exit code. Raises
    ServiceGone, SettingsError and StoreError.
    """
    draft = draft_of_words(options.skill, " ".join(map(quoted, options.values)), options.device)
    # Imported here because a plan with a skill uses this module but does not start a task yet.
    from bot.cli.do import give  # noqa: PLC0415 - see above

    return await give(draft, options, settings)


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
