"""`opengui graph`: both graphs, as they are compiled."""

from __future__ import annotations

import argparse

from agent.graph.executor.build import build_executor
from agent.graph.main.build import build_main
from bot.cli.exits import OK
from bot.config.settings import Settings


async def graph(options: argparse.Namespace, settings: Settings) -> int:
    """Print the Mermaid text of the main graph and of the executor graph."""
    del options, settings
    for title, compiled in (("Main graph", build_main(None)), ("Executor graph", build_executor(None))):
        print(f"%% {title}")
        print(compiled.get_graph().draw_mermaid())
    return OK
