"""`/healthz` and `/metrics`, beside the console. They ask for no token: they tell numbers only."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.monitoring.dependencies import Dependencies
from bot.monitoring.heartbeat import Pulse
from bot.monitoring.metrics import Metrics
from bot.store.errors import StoreError
from devices.wording import said

PATIENCE_S: Final = 5.0
"""How long the store may take to count."""


class WatchPages:
    """Two addresses for programs that watch. `chats` are the platforms on which people reach the service."""

    def __init__(self, pulse: Pulse, metrics: Metrics, waits: Dependencies, chats: Collection[str] = ()) -> None:
        self._pulse = pulse
        self._chats = chats
        self._waits = waits
        self._metrics = metrics

    def routes(self) -> list[Route]:
        """What is served."""
        return [Route("/healthz", self.health), Route("/metrics", self.numbers)]

    async def health(self, _: Request) -> Response:
        """200 while task service, store and chats work, else 503, with what is wrong. What is waited for
        stands beside it.
        """
        wrong = [] if self._pulse.healthy else ["desk"]
        waits = self._waits.now()
        if await self._text() is None or any(wait.what == "store" for wait in waits):
            wrong.append("store")
        wrong += [wait.what for wait in waits if wait.what in self._chats]
        body = {
            "healthy": not wrong,
            "wrong": wrong,
            "waits": [{"for": wait.what, "why": said(wait.why), "since": round(wait.since)} for wait in waits],
            "loop_lag_seconds": round(self._pulse.lag, 3),
        }
        return JSONResponse(body, status_code=503 if wrong else 200, headers={"Cache-Control": "no-store"})

    async def numbers(self, _: Request) -> Response:
        """The numbers, or 503 while the store cannot be read."""
        text = await self._text()
        if text is None:
            return PlainTextResponse("The store cannot be read; the log says why.\n", 503)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _text(self) -> bytes | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._metrics.text()
        except (StoreError, TimeoutError):
            return None
