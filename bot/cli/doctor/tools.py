"""What the agent lacks beside phones: tools, and folders that cannot be used."""

from __future__ import annotations

import asyncio

from agent.ports.workshop import Lack
from bot.checks import files, workshop
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.texts import listed, say
from bot.views.tools import ToolLack, ToolState
from bot.wiring.team import refused_folders
from bot.wiring.tools import tools_here
from devices.extras import Extra


async def findings(settings: Settings) -> list[Finding]:
    """A room of the workshop is really tried; servers of `mcp.json` are a matter of their own."""
    offer = await tools_here(settings)
    lacking: dict[ToolLack | Extra, list[ToolState]] = {}
    room: Lack | None = None
    for tool in offer.tools:
        if isinstance(tool.lack, Lack):
            room = tool.lack
        elif tool.lack is not None:
            lacking.setdefault(tool.lack, []).append(tool)
    found = [workshop.finding(room)]
    for tools in lacking.values():
        names = listed(tool.name for tool in tools)
        found.append(Finding("computer", "note", say("tools.lacking", names=names, why=tools[0].why)))
    return found + [files.refused_folder(each) for each in await asyncio.to_thread(refused_folders, settings)]
