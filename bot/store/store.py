"""The store: one object that gives access to everything the service stores, and the opening of the database that the
settings name.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.models.other_models import Embedder
from agent.ports.memory import Accounts, only_that
from bot.domain.limits import GIBIBYTE, KEEP_DAYS, KEEP_GIGABYTES
from bot.store.actions import ActionJournal, Steps, ToolCallTable
from bot.store.audit import Audit
from bot.store.chats import MissedTable, Moves, Offers
from bot.store.console import ConsoleMessages, ConsoleSessions
from bot.store.conversations import ApiRequests, Conversations
from bot.store.database import Database
from bot.store.directory import own_files_in
from bot.store.fleet import FleetTable
from bot.store.frames import FrameFiles, OwnFiles
from bot.store.memory import MemoryTable
from bot.store.outbox import Cards, Outbox
from bot.store.people import Grants, Links, Tiers, TokenTable
from bot.store.phones import HandPictures, LeaseTable, PhoneNameTable, PressVerdictTable
from bot.store.pruning import Pruning
from bot.store.questions import Deadlines, Questions
from bot.store.schedules import Schedules
from bot.store.search import TaskSearch
from bot.store.setting_changes import Changes
from bot.store.skills import SkillTable
from bot.store.sqlite.database import DATABASE_NAME, SQLiteDatabase
from bot.store.task_events import TaskEvents
from bot.store.tasks import Tasks
from bot.store.totals import Figures, Refusals, UsageTable
from bot.store.webhooks import Webhooks

if TYPE_CHECKING:
    from bot.store.checkpoints import Checkpoints


async def open_database(
    directory: Path,
    url: str = "",
    *,
    owns: bool = False,
    stand_by: Callable[[str], None] | None = None,
    patience: float = 0.0,
) -> Database:
    """Open the store's database: an SQLite file in `directory`, or, if `url` is given, a PostgreSQL database.

    `owns` makes this process the only service that works with the PostgreSQL database; an SQLite file is owned
    together with its directory. An unreachable server, or another owner, is waited for up to `patience` seconds. With
    `stand_by` another owner is waited for without limit; the callback is called repeatedly with its name.

    Raises StoreError or a subclass.
    """
    if not url:
        return await SQLiteDatabase.open(directory / DATABASE_NAME)
    from bot.store.postgresql.database import PostgresDatabase  # noqa: PLC0415 - an extra

    files = await asyncio.to_thread(own_files_in, directory) if owns else ()
    return await PostgresDatabase.open(url, owns=owns, files=files, stand_by=stand_by, patience=patience)


async def server_of(url: str) -> tuple[str, int, tuple[str, ...]]:
    """Return facts about the PostgreSQL database at this address, as (name, size in bytes, file names).

    The file names are those that the service had in its data directory when it started (`own_files_in`). Raises
    StoreError.
    """
    from bot.store.postgresql.database import PostgresDatabase  # noqa: PLC0415 - an extra
    from bot.store.postgresql.server import Server  # noqa: PLC0415 - the same

    server = Server(url)
    database = PostgresDatabase(server)
    try:
        size = await database.size()
        is_made = await database.fetch("SELECT to_regclass('opengui_schema') IS NOT NULL")
        files = await database.fetch("SELECT files FROM opengui_schema") if is_made[0][0] else []
        return server.name, size, tuple(name for row in files for name in json.loads(row["files"]))
    finally:
        await database.close()


def open_checkpoints(directory: Path, url: str = "", *, owns: bool = False) -> AbstractAsyncContextManager[Checkpoints]:
    """Return a context manager that opens the checkpoints next to the store; arguments as in `open_database`. Entering
    it raises StoreError or a subclass.
    """
    if not url:
        from bot.store.sqlite.checkpoints import open_checkpoints as open_in_files  # noqa: PLC0415 - LangGraph

        return open_in_files(directory)
    from bot.store.postgresql.checkpoints import open_checkpoints as open_in_server  # noqa: PLC0415 - an extra

    return open_in_server(url, owns=owns)


FRAMES_NAME = "frames"
TASK_FILES_NAME = "task-files"
"""The folder that contains a folder for each task with files of its own."""


class Store:
    """The open store of a data directory, with one attribute per table. Lock the directory (`DataDirectory`) first."""

    def __init__(self, database: Database, frames: FrameFiles, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        # As the database has them.
        self.read, self.write, self.size, self.answers = database.read, database.write, database.size, database.answers
        self.tasks = Tasks(database)
        self.steps = Steps(database)
        self.journal = ActionJournal(database, clock)
        self.conversations = Conversations(database, clock)
        self.task_events = TaskEvents(database, self.conversations, clock)
        self.tool_calls = ToolCallTable(database, self.tasks, self.task_events, clock)
        self.leases = LeaseTable(database)
        self.questions = Questions(database)
        self.webhooks = Webhooks(database)
        self.outbox = Outbox(database, self.webhooks)
        self.cards = Cards(database)
        self.refusals = Refusals(database, clock)
        self.grants = Grants(database)
        self.tiers = Tiers(database)
        self.links = Links(database)
        self.tokens = TokenTable(database)
        self.changes = Changes(database, clock)
        self.audit = Audit(database, clock)
        self.phone_names = PhoneNameTable(database, clock)
        self.press_verdicts = PressVerdictTable(database)
        self.console = ConsoleMessages(database, clock)
        self.api_requests = ApiRequests(database, clock)
        self.own_files = OwnFiles(database, clock)
        self.sessions = ConsoleSessions(database)
        self.search = TaskSearch(database)
        self.usage = UsageTable(database, clock)
        self.schedules = Schedules(database)
        self.missed = MissedTable(database)
        self.moves = Moves(database)
        self.offers = Offers(database)
        self.hand_pictures = HandPictures(database, clock)
        self.figures = Figures(database)
        self.skills = SkillTable(database)
        self.deadlines = Deadlines(database)
        self.pruning = Pruning(database)
        self.fleet = FleetTable(database)
        self.frames = frames

    @classmethod
    async def open(
        cls,
        directory: Path,
        *,
        url: str = "",
        owns: bool = False,
        clock: Callable[[], float] = time.time,
        keep_days: float = KEEP_DAYS,
        keep_bytes: float = KEEP_GIGABYTES * GIBIBYTE,
        stand_by: Callable[[str], None] | None = None,
        patience: float = 0.0,
    ) -> Store:
        """Open the store in the directory, creating it if needed.

        If `url` is a PostgreSQL address, everything but files is stored in that database; `owns` makes this service
        the only one that works with it. See `open_database` for `stand_by` and `patience`. `keep_days` and
        `keep_bytes` limit age and total size of stored pictures and files. Raises StoreError or one of its subclasses.
        """
        database = await open_database(directory, url, owns=owns, stand_by=stand_by, patience=patience)
        frames = FrameFiles(directory / FRAMES_NAME, clock, keep_days=keep_days, keep_bytes=keep_bytes)
        store = cls(database, frames, clock)
        await store.outbox.recover(clock(), patience=patience)
        return store

    def memory(
        self, accounts: Accounts = only_that, embedder: Callable[[], Embedder | None] = lambda: None
    ) -> MemoryTable:
        """Return the table of facts that people asked the service to remember; see `MemoryTable` for the arguments."""
        return MemoryTable(self._database, self._clock, accounts=accounts, embedder=embedder)

    async def close(self) -> None:
        """Finish the write in progress and close the store."""
        await self._database.close()

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service is using the database now."""
        return self._database.is_ours

    async def trouble(self) -> str:
        """Return why writing fails at the moment, after another try if it failed before; "" if it works."""
        await self._database.probe()
        return self._database.trouble
