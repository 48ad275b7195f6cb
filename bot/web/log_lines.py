"""Serves the service's latest log lines for `opengui logs`. Only callers with the start token get them, not pages."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.logs.setup import KEPT_LINES, RECENT
from bot.texts import say
from bot.web.auth import caller_of
from bot.web.http import Streamed, Write, get, refuse
from bot.web.wakeup import ends_before


class LogLines:
    """Handles requests for log lines. Setting `stopping` ends its streams."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [get("/api/logs", self.logs)]

    async def logs(self, request: Request) -> Response:
        """Send the last `lines` log lines. With `follow=1`, also send new ones until the client disconnects or the
        service stops. Browsers with a session are refused; only programs may read the log.
        """
        if caller_of(request).session:
            return refuse(403, say("refusal.logs"))
        wanted = request.query_params.get("lines", str(KEPT_LINES))
        if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 6):
            return refuse(400, say("cli.number"))
        following = request.query_params.get("follow") == "1"

        async def tell(write: Write) -> None:
            async with aclosing(RECENT.follow(int(wanted), on=following)) as lines:
                async for line in lines:
                    await write(line.encode(errors="replace") + b"\n")

        async def until_stopped(write: Write) -> None:
            await ends_before(self._stopping.wait(), tell(write))

        return Streamed(until_stopped, {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"})
