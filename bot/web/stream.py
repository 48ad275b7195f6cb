"""Server-sent events: every change of a message with its revision as id, so that a page that was away misses none."""

from __future__ import annotations

import asyncio
import json
import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.domain.right import Right
from bot.texts import say
from bot.web.auth import ConsoleGate
from bot.web.dashboard import APART_S, Dashboard, Shown
from bot.web.http import STREAM_HEADERS, Streamed, Write, get, refuse, server_sent
from bot.web.viewers import Viewer, Viewers
from bot.web.wakeup import any_of

HEARTBEAT_EVERY = 15.0
"""Seconds of silence after which a comment is sent: a page hears that it is still connected."""
AT_ONCE = 100
"""Changes read from the log in one go."""
MOST_BEHIND = 1000
"""Changes that a page is told one by one. One that missed more is told to load everything anew: that is less."""
REVISION = re.compile(r"[0-9]{1,18}")
"""Fits in SQLite's 64 bits."""


class Events:
    """The page's live side. `stopping` ends every stream, and one ends when the gate says that its reader has left."""

    def __init__(self, board: Dashboard, stopping: asyncio.Event, gate: ConsoleGate, viewers: Viewers) -> None:
        self._gate = gate
        self._viewers = viewers
        self._board = board
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """What is served."""
        return [get("/api/events", self.events, Right.USE)]

    async def events(self, request: Request) -> Response:
        """Changes since `Last-Event-ID`, else since `?since=`, else from now on; then whatever comes.

        A page that is too far behind, or ahead (a backup was put back), is sent `reset`, and what comes after it.
        """
        wanted = request.headers.get("Last-Event-ID") or request.query_params.get("since", "")
        if wanted and not REVISION.fullmatch(wanted):
            return refuse(400, say("refusal.revision"))
        viewer = self._viewers.of(request)
        now = await viewer.log.revision()
        since = int(wanted) if wanted else now
        lost = since > now or await viewer.log.missed(since) > MOST_BEHIND

        async def tell(write: Write) -> None:
            if lost:
                await write(server_sent("reset", json.dumps({"revision": now}), number=now))
            async with self._board.watched():
                await self._stream(request, viewer, write, now if lost else since)

        return Streamed(tell, STREAM_HEADERS)

    async def _stream(self, request: Request, viewer: Viewer, write: Write, since: int) -> None:
        """Tells what is new, then waits until something is: meanwhile nothing is asked of the store."""
        loop = asyncio.get_running_loop()
        told: Shown | None = None
        written = loop.time()
        changed: asyncio.Event | None = None
        await write(b"retry: 1000\n\n")
        while not self._stopping.is_set() and self._gate.still(request):
            events: list[bytes] = []
            moved, gone = self._board.news.next(), self._gate.sessions.gone.next()
            if changed is None or changed.is_set():
                changed = viewer.chat.news.next()
                events, since = await _changes(viewer, since)
            if (shown := self._board.shown) is not None and (told is None or shown.number != told.number):
                own = await self._own(viewer, shown)
                if news := own.since(told):
                    events.append(server_sent("state", news))
                told = own
            if not events and loop.time() - written >= HEARTBEAT_EVERY:
                events.append(b": still here\n\n")
            if events:
                await write(b"".join(events))
                written = loop.time()
                # Whatever changes meanwhile is told in one go, with one look into the log.
                await any_of(gone, self._stopping, seconds=APART_S)
            await any_of(changed, moved, gone, self._stopping, seconds=HEARTBEAT_EVERY)

    async def _own(self, viewer: Viewer, shown: Shown) -> Shown:
        """What of it is shown to them: for operators the same for all, made once."""
        if viewer.services is None:
            return shown
        return Shown(await viewer.standing(shown.standing), shown.number, viewer.state)


async def _changes(viewer: Viewer, since: int) -> tuple[list[bytes], int]:
    events = []
    while True:
        entries = await viewer.log.changes(since, AT_ONCE)
        for entry in entries:
            since = entry.revision
            events.append(server_sent("message", entry.model_dump_json(), number=since))
        if len(entries) < AT_ONCE:
            return events, since
