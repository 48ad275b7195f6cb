"""The checks of what the agent uses besides phones: optional dependencies, tools, and folders of skills and members."""

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
    """List the installed extras, and the missing ones that a setting asks for. A missing extra is only a note, because
    all else works without it; extras that a tool needs are reported with the tool.
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
    """Check the tools, and return the findings. This starts a room of the workshop (a sandbox for programs) to try it.
    The servers in `mcp.json` have their own check.
    """
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
    """Whether shell and Python can be offered. A lack is only a note, because tasks work without them."""
    if lack is None:
        return Finding("computer", "good", say("workshop.good"))
    fix = "" if lack is Lack.OFF else say(f"workshop.fix.{lack.value}")
    return Finding("computer", "note", say("workshop.none", why=say(f"workshop.lack.{lack.value}")), fix)
