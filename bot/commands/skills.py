"""Skills: which there are, and a task that follows one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.commands.request import Refused, Request, Services, plain
from bot.commands.tasks import do
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Reply
from bot.texts import listed, say

_ARGUMENT: Final = re.compile(
    r"(?P<name>[a-z][a-z0-9_]{0,39})\s?=\s?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|“(?P<curly>[^”]*)”|(?P<plain>\S+))",
    re.IGNORECASE,
)
"""`size=large` or `item="Blue mug"`."""


async def skills(request: Request, services: Services) -> Reply:  # noqa: ARG001 - as every command
    """Name and description of each."""
    lines = [f"{skill.name}: {skill.description}" for skill in services.skills.found.values()]
    return plain("\n".join(lines) or say("skills.none"))


async def skill(request: Request, services: Services) -> Reply:
    """Queue a task that follows a skill, with what stands behind its name."""
    return await do(replace(request, call=skill_call(request.call, services)), services)


def skill_call(call: CommandCall, services: Services) -> CommandCall:
    """The `do` that is meant by a `skill NAME key=value …`. Raises Refused."""
    name, _, values = call.rest.strip().partition(" ")
    values = " ".join(values.split())
    return call_of(name, arguments_in(values), services, call.options, values)


def call_of(
    name: str, arguments: Mapping[str, str], services: Services, options: Mapping[str, str], values: str = ""
) -> CommandCall:
    """The `do` that follows the skill of this name with these arguments; `values` is how they were written. Raises
    Refused.
    """
    name = name.lower()
    if name not in services.skills.found:
        raise Refused(say("skills.unknown", name=name[:40], names=listed(services.skills.found) or "-"))
    values = values or " ".join(f"{key}={value}" for key, value in arguments.items())
    wish = say("skills.wish_with", name=name, values=values) if values else say("skills.wish", name=name)
    given = {"skill": name, "arguments": json.dumps(dict(arguments), ensure_ascii=False)}
    return CommandCall("do", {**options, **given}, wish)


def arguments_in(values: str) -> dict[str, str]:
    """What is given as `name=value`, by name."""
    return {
        found["name"].lower(): next(
            value for value in found.group("double", "single", "curly", "plain") if value is not None
        )
        for found in _ARGUMENT.finditer(values)
    }
