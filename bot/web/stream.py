"""The page's event stream: events of tasks, messages of the console, and the state of tasks, phones and questions,
which is kept up to date for all open pages together.

Each event contains a cursor, from which a page that lost the connection continues without missing any event.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.events import Asked, Step
from bot.application.services import Services
from bot.domain.right import Right
from bot.domain.task import OpenQuestion, StepRow, Task
from bot.domain.task_events import LogEvent, LoggedEvent, QuestionClosed, StepDone
from bot.store.console import ConsoleMessages
from bot.store.errors import StoreError
from bot.store.task_events import TaskEvents
from bot.texts import say, spoken
from bot.views.tasks import Json
from bot.web.auth import ConsoleGate
from bot.web.http import STREAM_HEADERS, Streamed, Write, get, refuse, server_sent
from bot.web.log import event_json
from bot.web.viewers import Viewer, Viewers
from bot.web.views import Changes, StateSnapshot, changes_json, read_snapshot, state_json, update_snapshot, waits_of
from bot.web.wakeup import Wakeup, any_of

logger = logging.getLogger(__name__)

APART_S = 0.2
"""Least seconds between two updates: a step changes several things at once, and nobody reads faster."""
RESTS = 10
"""Minimum pause between updates as a multiple of an update's duration. With hundreds of tasks or under load, updates
are expensive, and people's requests are more important than what pages show.
"""
AGAIN_S = 30.0
"""Seconds after which everything is read again, for changes that nothing reports, such as a battery level."""


class EncodedState:
    """The state as the pages show it, encoded only once for all pages that use the same language."""

    def __init__(
        self, snapshot: StateSnapshot, number: int, told: Callable[[StateSnapshot], Json] = state_json
    ) -> None:
        self.snapshot = snapshot
        self.number = number
        self._state_of = told
        self._states: dict[str, Json] = {}
        self._changes: dict[tuple[str, int], str] = {}

    def state(self) -> Json:
        """Return the whole state in the current language."""
        if (state := self._states.get(spoken())) is None:
            state = self._states[spoken()] = self._state_of(self.snapshot)
        return state

    def since(self, before: EncodedState | None) -> str:
        """Return what has changed for a page that last got the state `before`, as JSON; "" if nothing has. None means
        that the page has no state yet.
        """
        key = (spoken(), -1 if before is None else before.number)
        if (told := self._changes.get(key)) is None:
            state = self.state()
            news = state | {"whole": True} if before is None else changes_json(before.state(), state)
            told = self._changes[key] = json.dumps(news, ensure_ascii=False) if news else ""
        return told


class Dashboard:
    """Holds the state for all pages. It is kept up to date only while a page is open: the store is read after a change,
    and every AGAIN_S seconds.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._changed = Wakeup()
        self._changes = Changes()
        self._reload_all = True
        """Whether everything is to be read again."""
        self._watchers = 0
        self._update_task: asyncio.Task[None] | None = None
        self.updated = Wakeup()
        """Is notified when `current` has changed."""
        self.task_event = Wakeup()
        """Is notified of each event of a task."""
        self.current: EncodedState | None = None
        """The latest state, None before the first."""
        self._looks = 0

    async def change(self, _what: str) -> None:
        """Update the state, because the service began or stopped waiting for something. Called as a listener of
        outages.
        """
        self._changed.notify()

    @asynccontextmanager
    async def keep_updated(self) -> AsyncIterator[None]:
        """Keep `current` up to date until the block ends, because a page is open."""
        self._watchers += 1
        if self._update_task is None or self._update_task.done():
            self._update_task = asyncio.create_task(self._run(), name="what the console shows")
        try:
            yield
        finally:
            self._watchers -= 1
            if not self._watchers and self._update_task is not None:
                keeping, self._update_task = self._update_task, None
                self.current = None
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)

    async def _run(self) -> None:
        self._reload_all = True
        stops = (
            self._services.store.task_events.on_append(self._on_event),
            self._services.task_service.subscribe(self._on_task_changed),
        )
        phones = asyncio.create_task(self._watch_phones())
        try:
            while True:
                changed = self._changed.next()
                began = time.monotonic()
                await self._update()
                await asyncio.sleep(max(APART_S, RESTS * (time.monotonic() - began)))
                try:
                    async with asyncio.timeout(AGAIN_S):
                        await changed.wait()
                except TimeoutError:
                    self._reload_all = True
        finally:
            for stop in stops:
                stop()
            phones.cancel()
            await asyncio.gather(phones, return_exceptions=True)

    def _on_task_changed(self, task: str) -> None:
        self._changes.tasks.add(task)
        self._changed.notify()

    def _on_event(self, task: Task, event: LogEvent) -> None:
        if isinstance(event, StepDone):
            self._changes.steps[task.parent or task.id] = _row_of(task, event)
        self._changes.questions |= isinstance(event, Asked | QuestionClosed)
        self.task_event.notify()

    async def _update(self) -> None:
        changes, whole = self._changes, self._reload_all
        self._changes, self._reload_all = Changes(), False
        try:
            if self.current is None or whole:
                standing = await read_snapshot(self._services)
            else:
                standing = await update_snapshot(self._services, self.current.snapshot, changes)
        except StoreError as error:
            self._reload_all = True
            logger.warning("The state of tasks could not be read, so the console's pages are not up to date: %s", error)
            if self.current is None:
                return
            standing = replace(self.current.snapshot, model=self._services.model(), waits=waits_of(self._services))
        if self.current is None or standing != self.current.snapshot:
            self._looks += 1
            self.current = EncodedState(standing, self._looks)
            self.updated.notify()

    async def _watch_phones(self) -> None:
        while True:
            await self._services.phones.wait_for_change()
            self._changed.notify()


def _row_of(task: Task, step: StepDone) -> StepRow:
    """Return the step as a row with what a card shows."""
    told: dict[str, Any] = {name: getattr(step, name) for name in Step.model_fields if name != "type"}
    part, phone = (task.id, step.phone_name) if task.parent else ("", "")
    return StepRow(task=task.parent or task.id, at=0.0, part=part, phone_name=phone, **told)


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
    async def now(cls, log: ConsoleMessages, events: TaskEvents) -> Cursor:
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
        self._dashboard = board
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
            async with self._dashboard.keep_updated():
                await self._stream(request, viewer, write, begin)

        return Streamed(tell, STREAM_HEADERS)

    async def _stream(self, request: Request, viewer: Viewer, write: Write, since: Cursor) -> None:
        """Send what is new, then wait for news without reading the store."""
        loop = asyncio.get_running_loop()
        told: EncodedState | None = None
        written = loop.time()
        changed: asyncio.Event | None = None
        happened: asyncio.Event | None = None
        reader = _Reader(viewer, self._services, since)
        await write(b"retry: 1000\n\n")
        while not self._stopping.is_set() and self._may_read(request):
            events: list[bytes] = []
            moved, gone = self._dashboard.updated.next(), self._gate.sessions.ended.next()
            if changed is None or changed.is_set():
                changed = viewer.chat.updated.next()
                events += await reader.messages()
            if happened is None or happened.is_set():
                happened = self._dashboard.task_event.next()
                events += await reader.task_events()
            if (shown := self._dashboard.current) is not None and (told is None or shown.number != told.number):
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
        return self._gate.is_still_valid(request) and request.state.verdict(Right.USE).allowed

    async def _own(self, viewer: Viewer, state: EncodedState) -> EncodedState:
        """Return the part of the state that the viewer may see; operators share one."""
        if viewer.services is None:
            return state
        return EncodedState(await viewer.visible_snapshot(state.snapshot), state.number, viewer.state)


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

    async def task_events(self) -> list[bytes]:
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
