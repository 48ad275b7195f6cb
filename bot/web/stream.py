"""The page's event stream: events of tasks, messages of the console, and changes of the state.

Each event contains a cursor, from which a page that lost the connection continues without missing any event.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.application.services import Services
from bot.domain.console_log import ConsoleLog
from bot.domain.right import Right
from bot.domain.task import OpenQuestion
from bot.domain.task_events import LoggedEvent, QuestionClosed
from bot.store.task_events import TaskEvents
from bot.texts import say
from bot.views.tasks import Json
from bot.web.auth import ConsoleGate
from bot.web.dashboard import APART_S, Dashboard, Shown
from bot.web.http import STREAM_HEADERS, Streamed, Write, get, refuse, server_sent
from bot.web.log import event_json
from bot.web.viewers import Viewer, Viewers
from bot.web.wakeup import any_of

HEARTBEAT_EVERY = 15.0
"""Seconds of silence after which a comment tells the page that it is still connected."""
AT_ONCE = 100
"""Changes that are read at once."""
MOST_BEHIND = 1000
"""Changes that a page gets one by one. One that missed more is told to load everything again, which is less work."""
_CURSOR = re.compile(r"([0-9]{1,18})-([0-9]{1,18})(?:-([0-9a-f]{1,32}))?")
"""Each number fits in SQLite's 64 bits."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a page has read."""

    revision: int
    """The revision of the console's messages."""
    position: int
    """The position in the log of all tasks' events."""
    epoch: str = ""
    """Identifies the stored data: it changes when a backup is restored."""

    def __str__(self) -> str:
        return "-".join(filter(None, (str(self.revision), str(self.position), self.epoch)))

    @classmethod
    def parse(cls, text: str) -> Cursor | None:
        """Return the cursor that this text stands for; None if it is not a cursor."""
        found = _CURSOR.fullmatch(text)
        return None if found is None else cls(int(found[1]), int(found[2]), found[3] or "")

    @classmethod
    async def now(cls, log: ConsoleLog, events: TaskEvents) -> Cursor:
        """Return the cursor at the end of both logs."""
        return cls(await log.revision(), await events.latest(), await events.epoch())


class Events:
    """Handles requests for the event stream. A stream ends when `stopping` is set, or when its reader leaves or loses
    the right.
    """

    def __init__(self, board: Dashboard, stopping: asyncio.Event, gate: ConsoleGate, viewers: Viewers) -> None:
        self._services = viewers.services
        self._gate = gate
        self._viewers = viewers
        self._board = board
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [get("/api/events", self.events, Right.USE)]

    async def events(self, request: Request) -> Response:
        """Stream the changes since the cursor in the header `Last-Event-ID` or the query's `since`, or since now; then
        all new ones.

        A page that missed too much, or read other data (before a backup was restored), is sent the event `reset` and
        then only new changes.
        """
        wanted = request.headers.get("Last-Event-ID") or request.query_params.get("since", "")
        since = Cursor.parse(wanted)
        if wanted and since is None:
            return refuse(400, say("refusal.revision"))
        viewer, log = self._viewers.of(request), self._services.store.task_events
        now = await Cursor.now(viewer.log, log)
        lost = since is not None and (
            since.epoch != now.epoch
            or since.revision > now.revision
            or since.position > now.position
            or await viewer.log.missed(since.revision) + await log.missed(since.position) > MOST_BEHIND
        )
        begin = now if since is None or lost else since

        async def tell(write: Write) -> None:
            if lost:
                await write(server_sent("reset", json.dumps({"cursor": str(now)}), number=str(now)))
            async with self._board.watched():
                await self._stream(request, viewer, write, begin)

        return Streamed(tell, STREAM_HEADERS)

    async def _stream(self, request: Request, viewer: Viewer, write: Write, since: Cursor) -> None:
        """Send what is new, then wait for news without reading the store."""
        loop = asyncio.get_running_loop()
        told: Shown | None = None
        written = loop.time()
        changed: asyncio.Event | None = None
        happened: asyncio.Event | None = None
        reader = _Reader(viewer, self._services, since)
        await write(b"retry: 1000\n\n")
        while not self._stopping.is_set() and self._may_read(request):
            events: list[bytes] = []
            moved, gone = self._board.news.next(), self._gate.sessions.gone.next()
            if changed is None or changed.is_set():
                changed = viewer.chat.news.next()
                events += await reader.messages()
            if happened is None or happened.is_set():
                happened = self._board.happened.next()
                events += await reader.happened()
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
                # Changes in the meantime are sent together, with one read of the log.
                await any_of(gone, self._stopping, seconds=APART_S)
            await any_of(changed, happened, moved, gone, self._stopping, seconds=HEARTBEAT_EVERY)

    def _may_read(self, request: Request) -> bool:
        """Whether the reader of the stream is still signed in and may use the page."""
        return self._gate.still(request) and request.state.verdict(Right.USE).allowed

    async def _own(self, viewer: Viewer, shown: Shown) -> Shown:
        """Return the part of the state that the viewer may see; operators share one."""
        if viewer.services is None:
            return shown
        return Shown(await viewer.standing(shown.standing), shown.number, viewer.state)


class _Reader:
    """Reads the news for one page."""

    def __init__(self, viewer: Viewer, services: Services, since: Cursor) -> None:
        self._viewer = viewer
        self._services = services
        self._since = since

    async def messages(self) -> list[bytes]:
        """The console messages that were added, changed or deleted."""
        told = []
        while True:
            entries = await self._viewer.log.changes(self._since.revision, AT_ONCE)
            for entry in entries:
                self._since = replace(self._since, revision=entry.revision)
                told.append(server_sent("message", entry.model_dump_json(), number=str(self._since)))
            if len(entries) < AT_ONCE:
                return told

    async def happened(self) -> list[bytes]:
        """The events of the tasks that the person may see."""
        told = []
        while True:
            found = await self._services.store.task_events.since(self._since.position, AT_ONCE)
            for one in found:
                self._since = replace(self._since, position=one.position)
                if (event := await self._event(one)) is not None and await self._is_shown(one.task):
                    told.append(server_sent("event", json.dumps(event, ensure_ascii=False), number=str(self._since)))
            if len(found) < AT_ONCE:
                return told

    async def _event(self, one: LoggedEvent) -> Json | None:
        closed: dict[str, OpenQuestion] = {}
        if isinstance(one.event, QuestionClosed):
            question = await self._services.task_service.question(one.event.question)
            closed = {} if question is None else {one.event.question: question}
        return event_json(one, closed)

    async def _is_shown(self, number: str) -> bool:
        """Whether the person may see the task; checked for each event, because rights can be revoked at any time."""
        if self._viewer.services is None:
            return True
        task = await self._services.task_service.get(number)
        return task is not None and self._viewer.sees(task)
