"""Skills: which there are, and a task that follows one."""

from __future__ import annotations

from dataclasses import replace

from bot.commands.request import Refused, Request, Services, plain
from bot.commands.tasks import do
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Reply
from bot.texts import listed, say, spoken


async def skills(request: Request, services: Services) -> Reply:  # noqa: ARG001 - as every command
    """Name and description of each."""
    lines = [f"{skill.name}: {skill.described(spoken())}" for skill in services.skills.found.values()]
    return plain("\n".join(lines) or say("skills.none"))


async def skill(request: Request, services: Services) -> Reply:
    """Queue a task that follows a skill, with what stands behind its name."""
    name, _, values = " ".join(request.call.rest.split()).partition(" ")
    if name.lower() not in services.skills.found:
        raise Refused(say("skills.unknown", name=name[:40], names=listed(services.skills.found) or "-"))
    wish = (
        say("skills.wish_with", name=name.lower(), values=values) if values else say("skills.wish", name=name.lower())
    )
    return await do(replace(request, call=CommandCall("do", request.call.options, wish)), services)
