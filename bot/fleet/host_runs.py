"""The runs (executions of tasks) on a host and their leases of phones: started by the hub's orders, paused while the
hub is silent, stopped when the hub no longer wants them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from agent.control import Pause, Resume, Signal
from agent.error_mapping import fault_of
from agent.events import RunEvent
from agent.ports.leases import Lease, NoPhone, Place
from agent.ports.runner import Runner, RunOrder
from agent.run import RunId
from agent.runner.active_run import cut_off
from bot.fleet.messages import Beat, Held, Item, OrderSent, PhoneReturned, PhoneWanted, Told
from bot.fleet.outgoing import Outgoing
from bot.logs.lines import ABOUT, About
from bot.store.fleet import FleetTable
from bot.store.phones import LeaseTable
from bot.texts import speaking

logger = logging.getLogger(__name__)


Tell = Callable[[RunId, Item], Awaitable[None]]


class HostLeases:
    """The `Leases` of a host: lets its runs wait for phones, which the hub assigns.

    `tell` sends the hub a message about a run; the hub's answers arrive through `set_granted` and `refuse`.
    """

    def __init__(self, table: LeaseTable, tell: Tell) -> None:
        self._table = table
        self._send = tell
        self._granted: tuple[Held, ...] = ()
        self._held: dict[RunId, Lease] = {}
        self._returned: set[tuple[RunId, int]] = set()
        """Leases that were returned, whether the hub knows it or not."""
        self._refused: dict[RunId, str] = {}
        self._changed = asyncio.Event()

    async def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncGenerator[Place | Lease, None]:
        """Wait until the hub assigns a phone to the run, and yield its lease. Raises NoPhone if it never will.

        `wish` is the phone's id, "" for any; `first` puts the run at the head of the queue. The phone must also be
        free on this host.
        """
        if run not in self._held:
            self._refused.pop(run, None)
            await self._send(run, PhoneWanted(n=0, phone=wish, first=first))
            given = await self._wait_for(run)
            await self._table.adopt(given, now=time.time())
            self._held[run] = given
        yield self._held[run]

    async def _wait_for(self, run: RunId) -> Lease:
        while True:
            self._changed.clear()
            if run in self._refused:
                raise NoPhone(self._refused[run])
            for given in self._granted:
                returned = (run, given.fence) in self._returned
                if given.run == run and not returned and all(given.phone != held.phone for held in self._held.values()):
                    return Lease(given.phone, run, given.fence)
            await self._changed.wait()

    async def release(self, run: RunId) -> None:
        """Return the run's phone to the hub. Does nothing if the run has none."""
        lease = self._held.pop(run, None)
        if lease is None:
            return
        self.note_returned(run, lease.fence)
        await self._table.release(run, now=time.time())
        await self._send(run, PhoneReturned(n=0, fence=lease.fence))
        self._changed.set()

    def note_returned(self, run: RunId, fence: int) -> None:
        """Record that the run has returned the lease with this number, so that older messages of the hub about it are
        ignored.
        """
        self._returned.add((run, fence))

    def set_granted(self, leases: tuple[Held, ...]) -> None:
        """Replace the list of leases that the hub has granted to runs of this host."""
        self._granted = leases
        self._changed.set()

    def refuse(self, run: RunId, why: str) -> None:
        """Record that there will be no phone for this run; `acquire`, which waits for one, then raises NoPhone with
        `why`.
        """
        self._refused[run] = why
        self._changed.set()

    def has_lost(self, run: RunId) -> bool:
        """Return whether the run uses a phone that the hub has taken back, or has not granted."""
        lease = self._held.get(run)
        return lease is not None and all((each.run, each.fence) != (run, lease.fence) for each in self._granted)

    async def adopt(self, held: Held) -> None:
        """Store the lease under which a person operates the phone by hand."""
        if held.run not in self._held:
            await self._table.adopt(Lease(held.phone, held.run, held.fence), now=time.time())


DROP_S: Final = 20.0
TELL_S: Final = 2.0
"""Seconds within which the progress of a paused run is stored, unless the disk is full."""


@dataclass
class _Run:
    """A run of this host, with the last order that it got and the task that is working on it."""

    id: RunId
    order: RunOrder | None = None
    language: str = "en"
    working: asyncio.Task[None] | None = None
    suspended: bool = False
    """Whether the run is paused because the host does not hear from the hub."""
    paused: bool = False
    """Whether a person has paused the run; its last action may not have finished yet."""
    since: int = 0
    """Number of the beat since which the hub knows the run."""
    stop_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    pause_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ending: bool = False
    all_stored: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while the work waits for the next event, when everything before is stored."""

    @property
    def alive(self) -> bool:
        """Whether work on the run is in progress."""
        return self.working is not None and not self.working.done()


class HostRuns:
    """Carries out the runs (executions of tasks) of this host with the runner given to `use`; before that, none is
    worked on.
    """

    def __init__(self, table: FleetTable, leases: HostLeases, outgoing: Outgoing) -> None:
        self._table = table
        self._leases = leases
        self._outgoing = outgoing
        self.runner: Runner | None = None
        self._runs: dict[RunId, _Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Load the runs that this host was given before its restart. The hub's first beat says which ones are still
        wanted.
        """
        for known in await self._table.runs():
            self._run(known.run)

    async def stop(self) -> None:
        """Stop the work on all runs. Their progress remains in their checkpoints."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stop_all()

    async def use(self, runner: Runner) -> None:
        """Use this runner from now on. Current work is stopped, and continues from its checkpoints when the hub orders
        it again.
        """
        await self._stop_all()
        self.runner = runner

    @property
    def working(self) -> tuple[str, ...]:
        """The ids of the runs that are being worked on now."""
        return tuple(str(run.id) for run in self._runs.values() if run.alive)

    async def is_idle(self, run_id: RunId) -> bool:
        """Return whether the run leaves its phone alone now, because a person has paused it and its last action has
        finished, or because it is not being worked on. Waits for an action in progress as long as a pause does.
        """
        run = self._runs.get(run_id)
        if run is None or not run.alive:
            return True
        if self.runner is None or not run.paused:
            return False
        with suppress(TimeoutError):
            await self.runner.signal(run_id, Pause())  # again: the first may not have taken effect in time
            return run.paused
        return False

    # decisions from the hub's beats

    async def apply_beat(self, beat: Beat) -> None:
        """Apply the hub's state: stop runs that the hub no longer wants or that have lost their phone, and continue
        those that were paused because the hub was silent.
        """
        for run in list(self._runs.values()):
            standing = beat.runs.get(str(run.id))
            if standing is None:
                if beat.number >= run.since and not run.ending:
                    run.ending = True
                    self._spawn(self._forget(run))
                continue
            await self._outgoing.acknowledge(run.id, standing.received)
            if self._leases.has_lost(run.id):
                logger.warning("Run %s has lost its phone and is stopped until the hub sends an order.", run.id)
                self._spawn(self._stop_run(run))
            elif run.suspended and not standing.hold:
                run.suspended = False
                self._spawn(self._resume(run))

    def suspend_all(self) -> None:
        """Pause every run at its next safe point, because the host does not hear from the hub."""
        for run in self._runs.values():
            if run.alive and not run.suspended and not run.stop_lock.locked() and self.runner is not None:
                run.suspended = True
                logger.warning("The hub is silent: run %s will pause at its next safe point.", run.id)
                self._spawn(self._suspend(run))

    async def _suspend(self, run: _Run) -> None:
        assert self.runner is not None
        async with run.pause_lock:
            if run.suspended and run.alive:  # otherwise the next order would find it paused
                with suppress(TimeoutError):
                    await self.runner.signal(run.id, Pause())

    async def _resume(self, run: _Run) -> None:
        """Resume the run, after a pause in progress has taken effect."""
        assert self.runner is not None
        async with run.pause_lock:
            if not run.suspended and not run.paused and run.alive:
                await self.runner.signal(run.id, Resume())

    # the hub's requests for one run

    async def signal(self, runner: Runner, run_id: RunId, signal: Signal) -> None:
        """Pass a person's signal (pause, resume, note or cancel) to the run. A resume does not continue a run that is
        paused because the hub is silent.
        """
        run = self._run(run_id)
        if isinstance(signal, Pause | Resume):
            run.paused = isinstance(signal, Pause)
        if not (run.suspended and isinstance(signal, Resume)):
            await runner.signal(run_id, signal)

    async def take_order(self, sent: OrderSent) -> None:
        """Start a run or its next sub-task. If the sub-task is in progress, it simply continues; if other work on the
        run does not end in time, nothing is started, so that two never work on one run.
        """
        order = sent.order
        run = self._run(order.run)
        run.since = max(run.since, sent.number)
        if run.order is not None and order.subtask < run.order.subtask:
            return
        if run.alive:
            assert run.working is not None
            if run.order is not None and order.subtask == run.order.subtask:
                return
            await asyncio.wait({run.working}, timeout=DROP_S)
        run.ending = False
        async with run.stop_lock:
            pass  # wait until the stopped work has been cleaned up
        run = self._run(order.run)
        run.since = max(run.since, sent.number)
        if run.alive:
            logger.warning(
                "Run %s does not begin its sub-task %d, because earlier work on it has not ended in time. The hub will "
                "send the order again.",
                order.run,
                order.subtask,
            )
            return
        await self._table.keep_run(order.run, "", order.person)
        run.order, run.language = order, sent.language
        run.working = asyncio.create_task(self._work(run, order), name=f"run {order.run}")

    async def release(self, run_id: RunId) -> None:
        """Stop a run and delete its data because its task is over."""
        if run_id in self._runs:
            self._runs[run_id].ending = True
            await self._forget(self._runs[run_id])

    async def _work(self, run: _Run, order: RunOrder) -> None:
        assert self.runner is not None
        ABOUT.set(About(order.run.task))
        with speaking(run.language):
            try:
                events: AsyncIterator[RunEvent] = self.runner.start(order)
                assert isinstance(events, AsyncGenerator)
                async with aclosing(events):
                    run.all_stored.set()
                    async for event in events:
                        run.all_stored.clear()
                        await self._outgoing.write(order.run, Told(n=0, event=event))
                        run.all_stored.set()  # the next event is taken at once if it is already there
            except Exception as error:
                logger.exception("Run %s failed because of a fault in the program", order.run)
                fault = fault_of(error)
                end = cut_off(order, fault.outcome, fault.sentence)
                await self._outgoing.write(order.run, Told(n=0, event=end))
            finally:
                run.all_stored.set()

    async def _stop_run(self, run: _Run) -> None:
        """Stop the work on a run at a safe point; its progress is kept in its checkpoint."""
        async with run.stop_lock:
            await self._stop_work(run)

    async def _stop_work(self, run: _Run) -> None:
        runner, working = self.runner, run.working
        run.suspended = run.paused = False
        if runner is None:
            return
        if working is not None and not working.done():
            with suppress(TimeoutError):
                await runner.signal(run.id, Pause())
            with suppress(TimeoutError):
                async with asyncio.timeout(TELL_S):
                    while not run.all_stored.is_set():
                        await run.all_stored.wait()
            working.cancel()
            await asyncio.wait({working}, timeout=DROP_S)
            if not working.done():
                logger.error(
                    "The work on run %s did not end within %.0f s of being stopped. Until it ends, its phone is not "
                    "given back and the run is not continued.",
                    run.id,
                    DROP_S,
                )
                return
        run.working, run.suspended = None, False
        await runner.release(run.id)

    async def _stop_all(self) -> None:
        await asyncio.gather(*(self._stop_run(run) for run in self._runs.values()))

    async def _forget(self, run: _Run) -> None:
        async with run.stop_lock:
            await self._stop_work(run)
            if run.alive:
                run.ending = False  # the next beat tries again
            elif run.ending:  # otherwise it was ordered again in the meantime
                self._runs.pop(run.id, None)
                await self._outgoing.forget(run.id)

    def _run(self, run: RunId) -> _Run:
        return self._runs.setdefault(run, _Run(run))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
