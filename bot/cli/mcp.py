"""The `opengui mcp` command: an MCP server over standard input and output, for clients that start one as a subprocess.

It forwards every message to the running service's /mcp with the token in OPENGUI_TOKEN, and decides nothing itself.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from typing import Any, Final

from bot.cli.exits import OK, UNAVAILABLE, USAGE
from bot.cli.terminal import complain
from bot.config.installation import lack_of
from bot.config.settings import Settings
from bot.texts import say
from bot.web import handover
from devices.extras import Extra, is_installed
from devices.wording import said

TOKEN: Final = "OPENGUI_TOKEN"  # noqa: S105 - the name of the variable
PROG: Final = "opengui mcp"
READ_S: Final = 3700.0
"""Seconds to wait for a response; longer than a tool waits for the end of a task."""


async def mcp(_options: argparse.Namespace, settings: Settings) -> int:
    """Run `opengui mcp`: forward messages between an MCP client on standard input and output and the running service,
    until the client closes its end. Returns the exit code.
    """
    token = os.environ.get(TOKEN, "")
    if not token:
        return complain(say("cli.mcp.no_token", name=TOKEN), PROG, USAGE)
    note = await asyncio.to_thread(handover.read, settings.data_dir)
    if note is None:
        return complain(say("cli.token.away"), PROG, UNAVAILABLE)
    if not is_installed(Extra.MCP):
        return complain(said(lack_of(Extra.MCP)), PROG, UNAVAILABLE)
    import httpx2  # noqa: PLC0415 - of the extra, and only for this command
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - the same
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - the same

    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(10, read=READ_S), trust_env=False) as client,
        stdio_server() as (from_client, to_client),
        streamable_http_client(f"{note.url}/mcp", http_client=client) as (from_service, to_service),
    ):
        answering = asyncio.create_task(_pass_on(from_service, to_client))
        try:
            async for message in from_client:
                if not isinstance(message, Exception):
                    await to_service.send(_with_headers(message))
        finally:
            answering.cancel()
            await asyncio.wait([answering])
    return OK


async def _pass_on(messages: Any, to: Any) -> None:  # noqa: ANN401 - streams of the SDK
    async for message in messages:
        if not isinstance(message, Exception):
            await to.send(message)


def _with_headers(message: Any) -> Any:  # noqa: ANN401 - a message of the SDK
    """Return the message with the HTTP headers that its MCP protocol version requires."""
    from mcp.shared.inbound import (  # noqa: PLC0415 - see mcp
        MCP_METHOD_HEADER,
        MCP_NAME_HEADER,
        MCP_PROTOCOL_VERSION_HEADER,
        encode_header_value,
    )
    from mcp.shared.message import ClientMessageMetadata, SessionMessage  # noqa: PLC0415 - the same
    from mcp_types import PROTOCOL_VERSION_META_KEY  # noqa: PLC0415 - the same

    params = getattr(message.message, "params", None) or {}
    version = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
    if not isinstance(version, str):
        return message
    method = str(getattr(message.message, "method", ""))
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
    if isinstance(name := params.get("name"), str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    return SessionMessage(message.message, ClientMessageMetadata(headers=headers))
