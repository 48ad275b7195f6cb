"""What the agent has beside phones, and lacks: extras, tools, and folders that cannot be used."""

from __future__ import annotations

import asyncio

from agent.ports.workshop import Lack
from bot.checks import files
from bot.config.extras import install_command, lack_of
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.texts import listed, say
from bot.views.tools import ToolLack, ToolState
from bot.wiring.team import refused_folders
from bot.wiring.tools import tools_here
from devices.extras import Extra, is_installed
from devices.wording import said


def extras(settings: Settings) -> list[Finding]:
    """Those that are installed, and those that a setting asks for: all works without them, so one that is missing is a
    note. Tools tell of their own.
    """
    there = [extra for extra in Extra if is_installed(extra)]
    wanted = {Extra.OTEL: settings.otlp_endpoint, Extra.VIRTUAL_PHONE: settings.virtual_phones}
    return [
        *([Finding("computer", "good", say("extra.installed", names=listed(there)))] if there else []),
        *(
            Finding("computer", "note", said(lack_of(extra)), install_command(extra))
            for extra, asked in wanted.items()
            if asked and extra not in there
        ),
    ]


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
    found = [_workshop(room)]
    for tools in lacking.values():
        names = listed(tool.name for tool in tools)
        found.append(Finding("computer", "note", say("tools.lacking", names=names, why=tools[0].why)))
    return found + [files.refused_folder(each) for each in await asyncio.to_thread(refused_folders, settings)]


def _workshop(lack: Lack | None) -> Finding:
    """Whether shell and Python can be offered. Tasks work without them, so what is lacking is no more than a note."""
    if lack is None:
        return Finding("computer", "good", say("workshop.good"))
    fix = "" if lack is Lack.OFF else say(f"workshop.fix.{lack.value}")
    return Finding("computer", "note", say("workshop.none", why=say(f"workshop.lack.{lack.value}")), fix)
