"""Finds out what the service is waiting for at the moment (a disk, memory, a model, a chat platform, an adb server, a
phone), and shows on the cards of tasks that nothing can be stored.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from bot.domain.task import Task, TaskState
from bot.store.errors import StoreError
from bot.texts import say, speaking, words
from devices.wording import said

logger = logging.getLogger(__name__)


LITTLE: Final = 64 * 1024 * 1024
"""Bytes of free memory below which that is reported. One look at a phone of 1080×2400 takes 10.4 MB raw, 7.8 MB as a
picture and some more, and several phones are looked at concurrently.
"""
PROC: Final = Path("/proc")
GROUPS: Final = Path("/sys/fs/cgroup")
"""Where version 2 of control groups is mounted; version 1 is not considered."""


def memory_left(proc: Path = PROC, groups: Path = GROUPS) -> int | None:
    """Return the bytes until the nearest limit; None if no limit can be read. Blocks for less than a millisecond."""
    machine = _kilobytes(proc / "meminfo", "MemAvailable:")
    return min((*machine, *_group(proc, groups), *_process(proc)), default=None)


def _process(proc: Path) -> Iterator[int]:
    """Yield what the limits `ulimit -d` and `ulimit -v` leave."""
    for limit, used in ((resource.RLIMIT_DATA, "VmData:"), (resource.RLIMIT_AS, "VmSize:")):
        soft, _ = resource.getrlimit(limit)
        if soft != resource.RLIM_INFINITY:
            for taken in _kilobytes(proc / "self/status", used):
                yield max(0, soft - taken)


def _group(proc: Path, groups: Path) -> Iterator[int]:
    """Yield what `MemoryHigh`, `MemoryMax` or a container's limit leave, for the process's control group and those
    around it.

    Pages of files that were not used recently are freed before memory is refused, so they do not count.
    """
    for line in _lines(proc / "self/cgroup"):
        if not line.startswith("0::/"):
            continue
        own = groups / line.removeprefix("0::/").strip()
        for group in (own, *own.parents):
            if not group.is_relative_to(groups):
                break
            used = sum(_numbers(group / "memory.current")) - sum(_stat(group, "inactive_file"))
            for name in ("memory.high", "memory.max"):
                for most in _numbers(group / name):
                    yield max(0, most - used)


def _stat(group: Path, name: str) -> Iterator[int]:
    for line in _lines(group / "memory.stat"):
        if line.startswith(f"{name} "):
            yield int(line.split()[1])


def _numbers(path: Path) -> Iterator[int]:
    """Yield the number in the file; nothing for "max"."""
    return (int(line) for line in _lines(path) if line.strip().isdecimal())


def _kilobytes(path: Path, name: str) -> Iterator[int]:
    return (int(line.split()[1]) * 1024 for line in _lines(path) if line.startswith(name))


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text(encoding="ascii").splitlines()
    return []


LOOK_S: Final = 2.0
"""Seconds between two checks."""
PATIENCE_S: Final = 5.0
"""Seconds that one check may take."""

Listener = Callable[[str], Awaitable[None]]
"""Called with the name of the dependency that the service begins or stops waiting for."""
Source = Callable[[], Awaitable[str]]
"""Returns one sentence that says what is being waited for, "" if nothing is. It contains no person, secret or
address.
"""


@dataclass(frozen=True, slots=True)
class Wait:
    """One thing that the service is waiting for: its name, the reason as a sentence, and since when in Unix seconds."""

    what: str
    why: str
    since: float


class Dependencies:
    """Checks repeatedly which of its dependencies the service is waiting for. Each change is logged in one line."""

    def __init__(self, sources: Mapping[str, Source], *, clock: Callable[[], float] = time.time) -> None:
        self._sources = dict(sources)
        self._clock = clock
        self._waits: dict[str, Wait] = {}
        self._first_seen: dict[str, float] = {}
        self._listeners: list[Listener] = []
        self.recoveries: Counter[str] = Counter()
        """How often each dependency became available again after it had been waited for."""

    def current_waits(self) -> tuple[Wait, ...]:
        """Return what the service was waiting for at the last check, the longest wait first."""
        return tuple(sorted(self._waits.values(), key=lambda wait: wait.since))

    def add(self, sources: Mapping[str, Source]) -> None:
        """Check these sources as well from now on, by the name of their dependency."""
        self._sources |= sources

    def drop(self, what: str) -> None:
        """Stop checking the source with this name, because it is no longer used."""
        self._sources.pop(what, None)
        self._waits.pop(what, None)
        self._first_seen.pop(what, None)

    def on_change(self, listener: Listener) -> None:
        """Call `listener` after each change; it must be quick."""
        self._listeners.append(listener)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of everything that can be waited for."""
        return tuple(self._sources)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Check every source each LOOK_S seconds, until the block ends."""
        looking = asyncio.create_task(self._run(), name="waits")
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def check(self) -> None:
        """Check every source once, and call the listeners about each change."""
        for what, source in list(self._sources.items()):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    why = await source()
            except (OSError, TimeoutError):
                why = words("waits.silent")
            if self._record(what, why):
                for listener in self._listeners:
                    await listener(what)

    async def _run(self) -> None:
        while True:
            try:
                await self.check()
            except Exception:
                logger.exception("The check of the service's dependencies failed and will be repeated")
            await asyncio.sleep(LOOK_S)

    def _record(self, what: str, why: str) -> bool:
        """Record the result of a check. Returns whether the service begins or stops waiting for this dependency."""
        waited = what in self._waits
        if not why:
            self._first_seen.pop(what, None)
            if self._waits.pop(what, None) is not None:
                self.recoveries[what] += 1
                logger.info("The service waits no more for %s.", what)
        elif (since := self._first_seen.get(what)) is None:
            self._first_seen[what] = self._clock()
        else:
            if not waited:
                logger.warning("The service waits for %s: %s", what, why)
            self._waits[what] = Wait(what, why, since)
        return waited != (what in self._waits)


STORE = "store"
AT_WORK = frozenset({TaskState.QUEUED, TaskState.WORKING})
"""The states of tasks that would continue on their own; the others wait for a person."""


class Cards(Protocol):
    """The part of the task service that is needed here."""

    async def active(self) -> tuple[Task, ...]:
        """Return all tasks that have not ended."""

    def note(self, task: str, text: str) -> None:
        """Show this text on the task's card until its work continues; "" removes it."""


def standstill_words(waits: Iterable[Wait]) -> str:
    """Return why all work has stopped, in the current language; "" if it has not."""
    why = next((wait.why for wait in waits if wait.what == STORE), "")
    return say("card.stands_still", why=said(why)) if why else ""


class OutageNotice:
    """Shows on the cards of queued and working tasks that nothing can be stored for now, and removes that when it is
    over. This itself is not stored.
    """

    def __init__(self, task_service: Cards, waits: Dependencies) -> None:
        self._task_service = task_service
        self._waits = waits
        self._notified: set[str] = set()
        waits.on_change(self._changed)

    async def _changed(self, what: str) -> None:
        if what != STORE:
            return
        try:
            tasks = [task for task in await self._task_service.active() if not task.parent and task.state in AT_WORK]
        except StoreError as error:
            logger.warning("The cards could not be updated to say that work is on hold: %s", error)
            return
        waits = self._waits.current_waits()
        stands_still = any(wait.what == STORE for wait in waits)
        if not stands_still:
            tasks = [task for task in tasks if task.id in self._notified]
        for task in tasks:
            with speaking(task.person.language):
                self._task_service.note(task.id, standstill_words(waits))
        self._notified = {task.id for task in tasks} if stands_still else set()
