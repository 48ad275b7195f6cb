"""`/healthz` and `/metrics`, beside the console. They ask for no token: they tell numbers only."""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from bot.store.errors import StoreError
from bot.watching.metrics import Metrics
from bot.watching.pulse import Pulse
from bot.watching.waits import Waits
from devices.wording import said

PATIENCE_S: Final = 5.0
"""How long the store may take to count."""


class WatchPages:
    """Two addresses for programs that watch."""

    def __init__(self, pulse: Pulse, metrics: Metrics, waits: Waits) -> None:
        self._pulse = pulse
        self._waits = waits
        self._metrics = metrics

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [web.get("/healthz", self.health), web.get("/metrics", self.numbers)]

    async def health(self, _: web.Request) -> web.Response:
        """200 while desk and store work, else 503, with what does not. What is waited for stands beside it."""
        wrong = [] if self._pulse.healthy else ["desk"]
        waits = self._waits.now()
        if await self._text() is None or any(wait.what == "store" for wait in waits):
            wrong.append("store")
        body = {
            "healthy": not wrong,
            "wrong": wrong,
            "waits": [{"for": wait.what, "why": said(wait.why), "since": round(wait.since)} for wait in waits],
            "loop_lag_seconds": round(self._pulse.lag, 3),
        }
        return web.json_response(body, status=503 if wrong else 200, headers={"Cache-Control": "no-store"})

    async def numbers(self, _: web.Request) -> web.Response:
        """The numbers, or 503 while the store cannot be read."""
        text = await self._text()
        if text is None:
            return web.Response(status=503, text="The store cannot be read; the log says why.\n")
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _text(self) -> bytes | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._metrics.text()
        except (StoreError, TimeoutError):
            return None
