"""Connects the servers listed in `mcp.json` for the agent, and describes them for people."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from bot.config.extras import lack_of
from bot.config.places import MCP_NAME
from bot.mcp_servers.configuration import ServerEntry, read_mcp_file
from bot.part import ForeignTools, ToolServers
from bot.texts import say
from devices.extras import Extra, is_installed

logger = logging.getLogger(__name__)


@asynccontextmanager
async def _connected(data_dir: Path, may_call: Callable[[], bool]) -> AsyncGenerator[ForeignTools]:
    named = await asyncio.to_thread(read_mcp_file, data_dir / MCP_NAME)
    refused = named.refused if named else {}
    for name, why in refused.items():
        logger.error("%s is not used: %s", f"The server {name} of {MCP_NAME}" if name else MCP_NAME, why)
    if named is None or not named.servers:
        yield ForeignTools(refused=refused)
        return
    if not is_installed(Extra.MCP):
        why = lack_of(Extra.MCP)
        logger.error("%s is not used: %s", MCP_NAME, why)
        yield ForeignTools(refused={**refused, **dict.fromkeys(named.servers, why)})
        return
    from bot.mcp_servers.connection import McpServers  # noqa: PLC0415 - 26 MB, only where servers are named

    servers = McpServers(named.servers, may_call)
    async with servers.connected():
        yield ForeignTools(servers.tools, servers.states, refused)


def _refused(data_dir: Path) -> Mapping[str, str]:
    named = read_mcp_file(data_dir / MCP_NAME)
    return named.refused if named else {}


def _listed(data_dir: Path) -> list[str]:
    """Each line shows the whole command, because the service will start that program."""
    named = read_mcp_file(data_dir / MCP_NAME)
    if named is None:
        return []
    refused = [say("cli.backup.refused", name=name, why=why) for name, why in named.refused.items()]
    return [*(_line(*each) for each in named.servers.items()), *refused]


def _line(name: str, entry: ServerEntry) -> str:
    started = " ".join((entry.command, *entry.args)) if entry.command else entry.url
    return f"{name}: {started}"


SERVERS: Final = ToolServers(_connected, _refused, _listed)
