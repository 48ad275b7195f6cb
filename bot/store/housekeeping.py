"""Deletes old data every hour, and measures how much is stored."""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final, Protocol

from bot.domain.clock import ClockWatch, seconds_since_boot
from bot.domain.limits import KEEP_TASKS_DAYS
from bot.store.errors import StoreError
from bot.store.frames import kept_files
from bot.store.sqlite.checkpoints import CHECKPOINTS_NAME
from bot.store.sqlite.database import DATABASE_NAME, size_of
from bot.store.store import FRAMES_NAME, TASK_FILES_NAME, Store

logger = logging.getLogger(__name__)

EVERY_S: Final = 3600.0
EVENTS_DAYS: Final = 30.0
"""How long the platforms' event ids are remembered: no platform repeats an event that late."""
CHECKPOINTS_DAYS: Final = 1.0
"""How long checkpoints of an ended task are kept for inspection; it is never continued."""
AT_ONCE: Final = 100
"""Tasks found per query. Each is deleted in a transaction of its own, so that no other writer waits for long."""
_DAY_S: Final = 86_400.0
BELIEVED_S: Final = _DAY_S
"""Seconds after a change of the system clock in which nothing is deleted: a wrong clock must not delete data."""


class Threads(Protocol):
    """The part of the LangGraph checkpoint storage that housekeeping needs."""

    async def forget(self, task: str) -> None:
        """Delete the checkpoints of a task."""

    async def size(self) -> int:
        """Return how many bytes the checkpoints take on the disk."""


@dataclass(frozen=True, slots=True)
class Removed:
    """How many items of each kind one round of housekeeping deleted."""

    tasks: int = 0
    checkpoints: int = 0
    rows: int = 0
    pictures: int = 0
    folders: int = 0


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """How much is stored. `pictures` is a number of files; sizes are in bytes on the disk."""

    pictures: int
    pictures_size: int
    database_size: int
    checkpoints_size: int


class Housekeeper:
    """Deletes old data once an hour, while `at_work`. A failure is logged and tried again an hour later.

    `clock` returns Unix seconds; `steady` returns seconds since boot and reveals changes of the clock.
    """

    def __init__(
        self,
        store: Store,
        threads: Threads,
        directory: Path,
        *,
        keep_tasks_days: float = KEEP_TASKS_DAYS,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self._store = store
        self._threads = threads
        self._directory = directory
        self._keep = keep_tasks_days * _DAY_S
        self._clock = clock
        self._steady = steady
        self._watch = ClockWatch(clock, steady)
        self._clock_trusted_from = 0.0
        self.disk_usage: DiskUsage | None = None
        """How much was stored after the last round; None before the first."""

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Context manager that runs a round in the background, at once and then every hour, until the block ends."""
        working = asyncio.create_task(self._run(), name="housekeeping")
        try:
            yield
        finally:
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working

    async def round(self) -> Removed:
        """Delete what is too old, and measure what is stored (`disk_usage`). Returns how much was deleted: nothing for
        a day after the system clock was changed.

        Raises StoreError; deletions before the error remain, the rest follows in the next round.
        """
        now = self._clock()
        if jump := self._watch.jumped():
            self._clock_trusted_from = self._steady() + BELIEVED_S
            logger.warning("The clock was changed by %+.0f s, so nothing is deleted by age for a day.", jump)
        removed = Removed() if self._steady() < self._clock_trusted_from else await self._remove(now)
        pictures = await asyncio.to_thread(pictures_in, self._directory)
        self.disk_usage = DiskUsage(*pictures, await self._store.size(), await self._threads.size())
        return removed

    async def _remove(self, now: float) -> Removed:
        pruning = self._store.pruning
        await self._store.tasks.forget_events(before=now - EVENTS_DAYS * _DAY_S)
        await self._store.offers.forget_old(now=now)
        checkpoints = tasks = rows = 0
        # Never the rows of a task before its checkpoints, which could not be found without them.
        while found := await pruning.with_checkpoints(now - min(CHECKPOINTS_DAYS * _DAY_S, self._keep), AT_ONCE):
            for task in found:
                await self._threads.forget(task)
                await pruning.forgot_checkpoints(task)
            checkpoints += len(found)
        while found := await pruning.old_tasks(now - self._keep, AT_ONCE):
            for task in found:
                await pruning.forget(task)
            tasks += len(found)
        while batch := await pruning.batch(now - self._keep):
            rows += batch
        while batch := await pruning.forget_calls():
            rows += batch
        pictures = await self._store.frames.prune(await self._store.tasks.files_in_use())
        return Removed(tasks, checkpoints, rows, pictures, await self._remove_folders())

    async def _remove_folders(self) -> int:
        """Delete the file folders of tasks that are no longer stored: also after a crash in between, or with another
        database.
        """
        root = self._directory / TASK_FILES_NAME
        gone = await self._store.pruning.without_record(await asyncio.to_thread(_numbered, root))
        for task in gone:
            await asyncio.to_thread(shutil.rmtree, root / task)
        return len(gone)

    async def _run(self) -> None:
        while True:
            try:
                self._log_removed(await self.round())
            except StoreError as error:
                logger.warning("Old data could not be deleted; next attempt in an hour: %s", error)
            except Exception:
                logger.exception("Old data could not be deleted; next attempt in an hour")
            await asyncio.sleep(EVERY_S)

    def _log_removed(self, removed: Removed) -> None:
        level = logging.INFO if removed != Removed() else logging.DEBUG
        kept = self.disk_usage
        assert kept is not None
        logger.log(
            level,
            "Removed because of age or size: steps and messages of %d tasks, checkpoints of %d, %d other rows, %d "
            "pictures and files, files of %d tasks. Kept: %d pictures and files in %.1f MB, tasks in %.1f MB, "
            "checkpoints in %.1f MB.",
            *astuple(removed),
            kept.pictures,
            kept.pictures_size / 1e6,
            kept.database_size / 1e6,
            kept.checkpoints_size / 1e6,
        )


def disk_usage_of(directory: Path) -> DiskUsage:
    """Return how much is stored in a data directory with SQLite databases. Blocks while it looks at each file."""
    databases = [size_of(directory / name) for name in (DATABASE_NAME, CHECKPOINTS_NAME)]
    return DiskUsage(*pictures_in(directory), *databases)


def pictures_in(directory: Path) -> tuple[int, int]:
    """Return the number of stored pictures and files, and their total size in bytes. Blocks."""
    pictures = [file.size for file in kept_files(directory / FRAMES_NAME)]
    return len(pictures), sum(pictures)


def _numbered(root: Path) -> list[str]:
    """Return the names of the folders there that are task numbers; anything else is not the service's."""
    there = root.iterdir() if root.is_dir() else ()
    return [path.name for path in there if path.name.isascii() and path.name.isdigit() and not path.is_symlink()]
