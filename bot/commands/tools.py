"""What the agent can do beside touching phones."""

from __future__ import annotations

from bot.application.services import Services
from bot.commands.request import Request, plain
from bot.domain.outgoing import Reply
from bot.texts import say
from bot.views.tools import tool_lines


async def tools(request: Request, services: Services) -> Reply:  # noqa: ARG001 - as every command
    """Each tool in a line, and why some are lacking."""
    return plain("\n".join(tool_lines(services.tools())), heading=say("tools.heading"))
