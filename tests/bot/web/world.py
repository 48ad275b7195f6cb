"""A console with real storage, and stand-ins at the protocols behind it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute
from yarl import URL

from bot.application.services import Services
from bot.domain.right import PAGE_PLATFORM
from bot.people.access import Policy
from bot.people.tokens import Tokens
from bot.store.console import ConsoleMessages, ConsoleSessions
from bot.store.conversations import ApiRequests
from bot.store.frames import FrameFiles, OwnFiles
from bot.store.schedules import Schedules
from bot.store.sqlite.database import SQLiteDatabase
from bot.store.totals import UsageTable
from bot.web.chat import WebChat
from bot.web.exposure import Exposure
from bot.web.server import Console
from bot.web.v1.mount import ApiMount
from bot.web.viewers import Viewers
from tests.bot.web.standins import (
    Checks,
    EventTable,
    PhoneList,
    QuestionTable,
    ServedTasks,
    Tables,
    TaskFinder,
    TinyIntake,
)


@dataclass
class World:
    """Everything that a test touches. `url` is without the token."""

    console: Console
    sessions: ConsoleSessions
    viewers: Viewers
    chat: WebChat
    log: ConsoleMessages
    frames: FrameFiles
    intake: TinyIntake
    tables: Tables
    database: SQLiteDatabase
    directory: Path
    entry: str
    url: str
    token: str

    def another(self, door: Exposure, port: int = 0, **more: Any) -> Console:
        """One more console on the same, which is not started."""
        more = {"rights": self.viewers.services.rights, **more}
        return Console(door, port, self.viewers, self.intake, Checks(), self.sessions, **more)


@asynccontextmanager
async def open_world(
    directory: Path, *, tables: Tables | None = None, door: Exposure | None = None, beside: Sequence[BaseRoute] = ()
) -> AsyncIterator[World]:
    """A running console on any free port."""
    database = await SQLiteDatabase.open(directory / "console.sqlite3")
    tables = tables or Tables()
    try:
        log = ConsoleMessages(database, time.time)
        frames = FrameFiles(directory / "frames", time.time)
        chat = WebChat(log, frames)
        intake = TinyIntake()
        viewers = Viewers(chat, WebChat(log, frames, PAGE_PLATFORM), served(database, tables, log, frames))
        sessions = ConsoleSessions(database)
        console = Console(
            door or Exposure("127.0.0.1"),
            0,
            viewers,
            intake,
            Checks(),
            sessions,
            rights=viewers.services.rights,
            connectable={"vlm_base_url": "model", "vlm_api_key": "model", "vlm_model": "model"},
            data_dir=directory,
            beside=lambda stopping: [*beside, *ApiMount(viewers.services, stopping).routes()],
        )
        entry = await console.start()
        try:
            parts = URL(entry)
            url = str(parts.origin())
            token = parts.query.get("token", "")
            yield World(
                console,
                sessions,
                viewers,
                chat,
                log,
                frames,
                intake,
                tables,
                database,
                directory,
                entry,
                url,
                token,
            )
        finally:
            await console.stop()
    finally:
        await database.close()


def served(database: SQLiteDatabase, tables: Tables, log: ConsoleMessages, frames: FrameFiles) -> Services:
    """What the operator's page and its API ask, from these tables."""
    store: Any = SimpleNamespace(
        console=log,
        questions=QuestionTable(tables),
        task_events=EventTable(tables),
        search=TaskFinder(tables),
        usage=UsageTable(database, time.time),
        schedules=Schedules(database),
        api_requests=ApiRequests(database, time.time),
        own_files=OwnFiles(database, time.time),
        frames=frames,
    )
    nothing: Any = None
    tasks: Any = ServedTasks(tables)
    rights: Any = SimpleNamespace(policy=Policy(), tokens=Tokens(nothing))
    phones: Any = PhoneList(tables)
    hands: Any = SimpleNamespace(held_by=lambda _: "")
    return Services(
        tasks,
        store,
        phones,
        rights,
        nothing,
        nothing,
        hands,
        nothing,
        nothing,
        {},
        waits=lambda: tables.waits,
        model=lambda: tables.model,
        on_outage=tables.outage_listeners.append,
    )


def asked(
    path: str, headers: Mapping[str, str] = {}, *, client: str = "127.0.0.1", server: str = "127.0.0.1", **found: str
) -> Request:
    """A request as a handler gets it; `found` is what the route found in its path."""
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
            "client": (client, 50_000),
            "server": (server, 8765),
            "path_params": found,
            "state": {},
        }
    )
