"""The tools of a run that need no phone, by the settings. What they are made with is loaded when one is used first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.built_in import BUILT_IN
from agent.ports.workshop import Workshop
from agent.tools.compute import CALCULATE, PYTHON
from agent.tools.shell import shell_tools
from agent.tools.spec import Tool
from agent.tools.web import read_page, web_search
from bot.config.settings import Settings
from bot.mcp_servers.configuration import FILE, read_mcp_file

if TYPE_CHECKING:
    from agent.tools.egress import Egress
    from agent.tools.searching import Search

logger = logging.getLogger(__name__)


def actions_of(settings: Settings, workshop: Workshop | None = None) -> ActionRegistry:
    """What a run can do on the phone and without it. Pages are read from the public internet alone; shell and full
    Python are there with a workshop.
    """
    actions = BUILT_IN.plus(CALCULATE, PYTHON)
    if workshop is not None:
        actions = actions.plus(*shell_tools(workshop, lambda _context: None))
    if not settings.web_tools:
        return actions
    actions = actions.plus(read_page(_public))
    if settings.searxng_url or settings.tavily_api_key.get_secret_value():
        actions = actions.plus(web_search(cache(lambda: _search(settings))))
    return actions


@cache
def _public() -> Egress:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is fetched

    return Egress()


def _search(settings: Settings) -> Search:
    from agent.tools.egress import Egress  # noqa: PLC0415 - only where something is searched
    from agent.tools.searching import SearXng, Tavily, endpoint_of  # noqa: PLC0415 - the same

    if settings.searxng_url:
        return SearXng(settings.searxng_url, Egress(named=frozenset({endpoint_of(settings.searxng_url)})))
    return Tavily(settings.tavily_api_key.get_secret_value(), _public())


@asynccontextmanager
async def mcp_tools(data_dir: Path) -> AsyncGenerator[Callable[[], tuple[Tool[Any], ...]]]:
    """Keep the servers of `mcp.json` connected until the block ends; the function gives the tools of those that live.

    Nothing is loaded or started where there is no such file.
    """
    named = await asyncio.to_thread(read_mcp_file, data_dir / FILE)
    for name, why in (named.refused if named else {}).items():
        logger.error("%s is not used: %s", f"The server {name} of {FILE}" if name else FILE, why)
    if named is None or not named.servers:
        yield tuple
        return
    try:
        from bot.mcp_servers.connection import McpServers  # noqa: PLC0415 - 26 MB, only where servers are named
    except ImportError:
        logger.error("%s is not used: install the extra opengui-bot[mcp].", FILE)  # noqa: TRY400 - a sentence
        yield tuple
        return
    servers = McpServers(named.servers)
    async with servers.connected():
        yield servers.tools
