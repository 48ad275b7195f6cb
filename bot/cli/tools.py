"""`opengui tools`: the tools that need no phone, which are offered, and what the others lack."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Final

from agent.ports.memory import MemoryOfThisProcess
from bot.cli.exits import OK
from bot.cli.terminal import padded
from bot.config.settings import Settings
from bot.texts import say
from bot.wiring.team import skills_of
from bot.wiring.tools import IN_A_RUN, tools_of

NAME_CELLS: Final = 14
NEEDS: Final = {
    "knowledge": "KNOWLEDGE_DIR",
    "web_search": "WEB_TOOLS=true",
    "read_page": "WEB_TOOLS=true",
    "weather": "WEB_TOOLS=true",
}
"""The setting without which a tool is not offered."""


async def tools(options: argparse.Namespace, settings: Settings) -> int:
    """List them, one per line."""
    skills = await asyncio.to_thread(skills_of, settings)
    offered = [tool.kind for tool in tools_of(settings, memory=MemoryOfThisProcess(), skills=skills)]
    for name in [*offered, *(name for name in NEEDS if name not in offered)]:
        needs = "" if name in offered else NEEDS[name]
        if options.json:
            row = {"tool": name, "offered": not needs, "needs": needs or None, "in_runs": name in IN_A_RUN}
            print(json.dumps(row))
            continue
        about = say(f"cli.tools.about.{name}")
        if needs:
            about = say("cli.tool.missing", about=about, setting=needs)
        elif name in IN_A_RUN:
            about = say("cli.tool.in_runs", about=about)
        print(f"{padded(name, NAME_CELLS)}  {about}")
    return OK
