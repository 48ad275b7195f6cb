"""The `opengui graph` command: prints the agent's graphs as they are compiled."""

from __future__ import annotations

import argparse

from agent.graph.agent import build_main
from agent.graph.executor.build import build_executor
from agent.graph.member.members import build_member
from bot.cli.exits import OK
from bot.config.settings import Settings


async def graph(options: argparse.Namespace, settings: Settings) -> int:
    """Print the Mermaid text of the main graph, a member's graph and the executor's graph. Returns the exit code."""
    del options, settings
    graphs = (("Main", build_main(None)), ("Member", build_member(None)), ("Executor", build_executor(None)))
    for title, compiled in graphs:
        print(f"%% {title} graph")
        print(compiled.get_graph().draw_mermaid())
    return OK
