"""Server-sent events: every change of a message with its revision as id, so that a page that was away misses none."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from aiohttp import ClientConnectionResetError, web

from bot.chats.web.api import Behind
from bot.chats.web.gate import refuse

logger = logging.getLogger(__name__)

STATE_EVERY = 1.0
"""Seconds between two looks at tasks and phones while no message changes."""
HEARTBEAT_EVERY = 15.0
"""Seconds of silence after which a comment is sent: a page hears that it is still connected."""
AT_ONCE = 100
"""Changes read from the log in one go."""


class Events:
    """The page's live side. `stopping` ends every stream."""

    def __init__(self, behind: Behind, stopping: asyncio.Event) -> None:
        self._behind = behind
        self._stopping = stopping

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [web.get("/api/events", self.events)]

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Changes since `Last-Event-ID`, else since `?since=`, else from now on; then whatever comes."""
        wanted = request.headers.get("Last-Event-ID") or request.query.get("since", "")
        if wanted and not wanted.isdecimal():
            return refuse(400, "The stream goes on after a revision: a number.")
        since = int(wanted) if wanted else await self._behind.log.revision()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        try:
            await self._stream(response, since)
        except ClientConnectionResetError:
            logger.debug("A page of the console went away")
        return response

    async def _stream(self, response: web.StreamResponse, since: int) -> None:
        loop = asyncio.get_running_loop()
        state: dict[str, Any] = {}
        written = loop.time()
        await response.write(b"retry: 1000\n\n")
        while not self._stopping.is_set():
            news = self._behind.chat.news.next()
            events, since = await self._changes(since)
            fresh = await self._behind.state()
            if fresh != state:
                state = fresh
                events.append(_event("state", fresh))
            if not events and loop.time() - written >= HEARTBEAT_EVERY:
                events.append(": still here\n\n")
            if events:
                await response.write("".join(events).encode())
                written = loop.time()
            await self._wait(news)

    async def _changes(self, since: int) -> tuple[list[str], int]:
        events = []
        while entries := await self._behind.log.changes(since, AT_ONCE):
            for entry in entries:
                since = entry.revision
                events.append(f"id: {since}\n" + _event("message", entry.model_dump(mode="json")))
        return events, since

    async def _wait(self, news: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(news.wait()), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(waits, timeout=STATE_EVERY, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
