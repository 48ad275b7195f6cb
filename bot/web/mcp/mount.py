"""The entry point of /mcp. The library takes 26 MB, so it is loaded with a token's first request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from bot.application.services import Services
from bot.config.installation import lack_of
from bot.web.auth import caller_of
from bot.web.http import refuse
from devices.extras import Extra, is_installed
from devices.wording import said

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MOST_SESSIONS: Final = 100
"""Sessions of the 2025 protocol; the 2026 one has none."""
MOST_BYTES: Final = 32 * 1024 * 1024
"""Bytes of one request; its files are base64, which makes them a third larger."""
IDLE_S: Final = 900.0
"""Seconds without a request after which a session ends."""


class McpMount:
    """The ASGI application at /mcp, for callers that sent a valid token. It loads the server with the first request."""

    def __init__(self, services: Services, stopping: asyncio.Event, *, sessions: int = MOST_SESSIONS) -> None:
        self._services = services
        self._stopping = stopping
        self._sessions = sessions
        self._manager: StreamableHTTPSessionManager | None = None
        self._manager_task: asyncio.Task[None] | None = None
        self._loading = asyncio.Lock()

    def routes(self) -> list[BaseRoute]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [Route("/mcp", endpoint=self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. A session can be used only with the token that began it."""
        if not is_installed(Extra.MCP):
            await refuse(501, said(lack_of(Extra.MCP)))(scope, receive, send)
            return
        manager = await self._loaded()
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser  # noqa: PLC0415 - see _loaded
        from mcp.server.auth.provider import AccessToken  # noqa: PLC0415 - the same

        token = caller_of(Request(scope)).token
        assert token is not None  # the gate admits nobody else
        access = AccessToken(token="", client_id=f"{token.name} {token.made}", scopes=[])
        await manager.handle_request({**scope, "user": AuthenticatedUser(access)}, receive, send)

    async def _loaded(self) -> StreamableHTTPSessionManager:
        async with self._loading:
            if self._manager is None:
                manager = await asyncio.to_thread(self._create)
                ready = asyncio.Event()
                self._manager_task = asyncio.create_task(self._run_manager(manager, ready), name="mcp sessions")
                await ready.wait()
                self._manager = manager
            return self._manager

    def _create(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415 - 26 MB

        from bot.web.mcp.server import phone_server  # noqa: PLC0415 - the same

        return StreamableHTTPSessionManager(
            phone_server(self._services, self._stopping),
            session_idle_timeout=IDLE_S,
            max_request_body_size=MOST_BYTES,
            max_sessions=self._sessions,
        )

    async def _run_manager(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._stopping.wait()
