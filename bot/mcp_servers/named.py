"""The servers listed in `mcp.json`: connects them for the agent, describes them for people, and checks whether each
answers and how many tools it has.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from bot.config.installation import MCP_NAME, install_command, lack_of
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.mcp_servers.configuration import ServerEntry, read_mcp_file
from bot.part import ForeignTools, ToolServers
from bot.texts import say
from devices.extras import Extra, is_installed
from devices.wording import said

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


WITHIN_S: Final = 15.0
"""Seconds that all servers together have to answer; programs that are downloaded first (npx) may take longer."""


async def findings(settings: Settings) -> list[Finding]:
    """Check each server in `mcp.json`, and return the findings; none if there is no such file. An unreachable server is
    only a note, because only its tools are missing; an error in the file, or a missing library, is bad.
    """
    named = await asyncio.to_thread(read_mcp_file, settings.data_dir / MCP_NAME)
    if named is None:
        return []
    fix = say("check.mcp.refused_fix", file=MCP_NAME)
    found = [
        Finding("service", "bad", say("check.mcp.refused", what=f"{MCP_NAME} {name}".strip(), why=why), fix)
        for name, why in named.refused.items()
    ]
    if not named.servers:
        return found
    if not is_installed(Extra.MCP):
        text = say("check.mcp.refused", what=MCP_NAME, why=said(lack_of(Extra.MCP)))
        return [*found, Finding("service", "bad", text, install_command(Extra.MCP))]
    from bot.mcp_servers.connection import McpServers  # noqa: PLC0415 - 26 MB, only where servers are named

    servers = McpServers(named.servers)
    async with servers.connected():
        states = await servers.wait_for_states(WITHIN_S)
    for state in states:
        if state.absence is None:
            text = say("check.mcp.good", name=state.name, number=len(state.tools))
            found.append(Finding("service", "good", text))
            if state.left_out:
                text = say("tools.left_out", server=state.name, number=state.left_out)
                found.append(Finding("service", "note", text, say("check.mcp.left_out_fix", file=MCP_NAME)))
        else:
            why = say(f"check.mcp.absent.{state.absence.name.lower()}")
            text = say("check.mcp.away", name=state.name, why=why)
            found.append(Finding("service", "note", text, say("check.mcp.away_fix", file=MCP_NAME)))
    return found
