"""The check of the MCP servers in `mcp.json`: whether each answers, and how many tools it has."""

from __future__ import annotations

import asyncio
from typing import Final

from bot.config.extras import install_command, lack_of
from bot.config.places import MCP_NAME
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.mcp_servers.configuration import read_mcp_file
from bot.texts import say
from devices.extras import Extra, is_installed
from devices.wording import said

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
        states = await servers.looked_at(WITHIN_S)
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
