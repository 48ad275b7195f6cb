"""The settings check: what the service finds when it looks at itself, and what is set."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from aiohttp import web

from bot.chats.web.views import ConsoleChecks
from bot.checks.finding import Finding
from bot.tasks.views import Json


class CheckUp:
    """Asks the checks. What is asked elsewhere is asked once at a time, and only when somebody wants it."""

    def __init__(self, checks: ConsoleChecks) -> None:
        self._checks = checks
        self._turn = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [web.get("/api/check", self.near), web.post("/api/check", self.far)]

    async def near(self, _: web.Request) -> web.Response:
        """What costs nothing, and the settings: never a secret's value."""
        settings = [asdict(one) for one in self._checks.settings()]
        return web.json_response({"findings": _told(await self._checks.near()), "settings": settings})

    async def far(self, _: web.Request) -> web.Response:
        """Model and chats, asked for real."""
        async with self._turn:
            return web.json_response({"findings": _told(await self._checks.far())})


def _told(findings: Sequence[Finding]) -> list[Json]:
    return [asdict(finding) for finding in findings]
