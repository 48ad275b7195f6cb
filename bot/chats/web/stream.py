"""Server-sent events: every change of a message with its revision as id, so that a page that was away misses none."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
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
MOST_BEHIND = 1000
"""Changes that a page is told one by one. One that missed more is told to load everything anew: that is less."""
HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""The last one tells nginx to pass each event on at once."""
REVISION = re.compile(r"[0-9]{1,18}")
"""Fits in SQLite's 64 bits."""


class Events:
    """The page's live side. `stopping` ends every stream, and one ends when `still` says that its reader has left."""

    def __init__(self, behind: Behind, stopping: asyncio.Event, still: Callable[[web.Request], bool]) -> None:
        self._still = still
        self._behind = behind
        self._stopping = stopping

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [web.get("/api/events", self.events)]

    async def events(self, request: web.Request) -> web.StreamResponse:
        """Changes since `Last-Event-ID`, else since `?since=`, else from now on; then whatever comes.

        A page that is too far behind, or ahead (a backup was put back), is sent `reset`, and what comes after it.
        """
        wanted = request.headers.get("Last-Event-ID") or request.query.get("since", "")
        if wanted and not REVISION.fullmatch(wanted):
            return refuse(400, "The stream goes on after a revision: a number.")
        now = await self._behind.log.revision()
        since = int(wanted) if wanted else now
        lost = since > now or await self._behind.log.missed(since) > MOST_BEHIND
        response = web.StreamResponse(headers=HEADERS)
        await response.prepare(request)
        try:
            if lost:
                await response.write(_event("reset", {"revision": now}, number=now).encode())
                since = now
            await self._stream(request, response, since)
        except ClientConnectionResetError:
            logger.debug("A page of the console went away")
        return response

    async def _stream(self, request: web.Request, response: web.StreamResponse, since: int) -> None:
        loop = asyncio.get_running_loop()
        state: dict[str, Any] = {}
        written = loop.time()
        await response.write(b"retry: 1000\n\n")
        while not self._stopping.is_set() and self._still(request):
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
                events.append(_event("message", entry.model_dump(mode="json"), number=since))
        return events, since

    async def _wait(self, news: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(news.wait()), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait(waits, timeout=STATE_EVERY, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def _event(name: str, data: dict[str, Any], *, number: int | None = None) -> str:
    """One event; with a `number` it is the one after which a page that was cut off goes on."""
    place = "" if number is None else f"id: {number}\n"
    return f"{place}event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
