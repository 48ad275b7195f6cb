"""The commands `opengui tools` and `graph`, which show what the agent is made of: the tools that need no phone, and its
graphs as they are compiled.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Final

from agent.graph.agent import main_graph
from agent.graph.executor.build import executor_graph
from agent.graph.member.members import member_graph
from bot.cli.exits import OK
from bot.cli.terminal import padded
from bot.config.settings import Settings
from bot.texts import say
from bot.views.tools import server_line, tool_data
from bot.wiring.team import refused_members, tools_here
from devices.wording import said

NAME_CELLS: Final = 14


async def tools(options: argparse.Namespace, settings: Settings) -> int:
    """List the tools, one per line, then the MCP servers and member folders that cannot be used. Returns the
    exit code.
    """
    offer = await tools_here(settings)
    for tool in offer.tools:
        if options.json:
            print(json.dumps(tool_data(tool), ensure_ascii=False))
            continue
        about = tool.about if tool.lack is None else say("cli.tool.missing", about=tool.about, why=tool.why)
        print(f"{padded(tool.name, NAME_CELLS)}  {about}")
    for server in offer.away:
        row = {"server": server.name, "why": server.why}
        print(json.dumps(row, ensure_ascii=False) if options.json else server_line(server))
    for refused in await asyncio.to_thread(refused_members, settings):
        row = {"refused": refused.folder, "reason": said(refused.why)}
        print(json.dumps(row, ensure_ascii=False) if options.json else say("cli.skills.refused", **row))
    return OK


async def graph(options: argparse.Namespace, settings: Settings) -> int:
    """Print the Mermaid text of the main graph, a member's graph and the executor's graph. Returns the exit code."""
    del options, settings
    graphs = (("Main", main_graph()), ("Member", member_graph()), ("Executor", executor_graph()))
    for title, compiled in graphs:
        print(f"%% {title} graph")
        print(compiled.get_graph().draw_mermaid())
    return OK
