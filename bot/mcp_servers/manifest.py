"""Registers MCP servers as an optional part of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.part import Part, RunningService, ToolServers

if TYPE_CHECKING:
    from bot.config.settings import Settings
    from bot.domain.finding import Finding


def _servers() -> ToolServers:
    from bot.mcp_servers.named import SERVERS  # noqa: PLC0415 - most commands need none

    return SERVERS


async def _check(settings: Settings, _service: RunningService | None) -> list[Finding]:
    from bot.mcp_servers.named import findings  # noqa: PLC0415 - for the doctor alone

    return await findings(settings)


PART: Final = Part(check=_check, tool_servers=_servers)
