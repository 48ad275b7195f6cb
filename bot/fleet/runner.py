"""Runs sub-tasks on the phones of this computer and of hosts, wherever the chosen phone is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from typing import Any, Final

from agent.control import Cancel, Pause, Signal
from agent.error_mapping import fault_of
from agent.events import RunEnded, RunEvent, TaskEvent, Waiting
from agent.models.base import Usage
from agent.ports.leases import Lease, NoPhone, Place
from agent.ports.runner import RunOrder
from agent.questions import Answer
from agent.recorded_skills.step_record import PressVerdict
from agent.run import Outcome, RunId
from agent.runner.active_run import cut_off
from agent.runner.local import LocalRunner
from bot.fleet.engine import EngineAway, steady_now
from bot.fleet.hosted_run import ASK_S, Change, HostedRun, new_id
from bot.fleet.hub import Hub
from bot.fleet.messages import GiveSignal, Item, Release, Rest
from bot.fleet.phones import FleetPhones
from bot.store.frames import FrameFiles
from bot.tasks.leases import PhoneLeases
from bot.tasks.secrets import MemorySecrets

logger = logging.getLogger(__name__)

ORDER_AGAIN_S: Final = 4.0
"""Seconds within which a host begins with an order."""


class FleetRunner:
    """The runner of a hub (`agent.ports.runner.Runner`): `local` does runs on this computer's phones, each host those
    on its own phones.

    The computer that has begun a run keeps it until the run is released, even if it goes away; the run is started
    nowhere else.
    """

    def __init__(
        self,
        local: LocalRunner,
        hub: Hub,
        phones: FleetPhones,
        leases: PhoneLeases,
        secrets: MemorySecrets,
        frames: FrameFiles,
        verdicts: Callable[[str], Awaitable[tuple[PressVerdict, ...]]],
    ) -> None:
        """`verdicts` returns the guard model's verdicts on a recorded skill, which are sent to hosts with an order."""
        self._verdicts = verdicts
        self._local = local
        self._hub = hub
        self._phones = phones
        self._leases = leases
        self._secrets = secrets
        self._frames = frames
        self._runs: dict[RunId, HostedRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # Runner

    async def start(self, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        """Start the sub-task, or attach to it again after a restart, and yield its events. RunEnded is the last one,
        unless the service stops. Raises RunOutOfReach if the run's host stays away.
        """
        run = self._run(order.run)
        known = self._hub.known_runs.get(order.run)
        if known is None:
            host: str | None = None
            async with aclosing(self._choose(run, order)) as choosing:
                async for found in choosing:
                    if isinstance(found, str):
                        host = found
                    else:
                        yield found
            if host is None:
                return
            known = await self._hub.keep_run(order.run, host, order.person)
        if known.host and order.skill:
            order = order.model_copy(update={"verdicts": await self._verdicts(order.skill)})
        work = run.follow(known.host, order) if known.host else self._here(run, order)
        async with aclosing(work) as events:
            async for event in events:
                yield event

    async def warm_up(self, order: RunOrder) -> None:
        """Do nothing: which computer does a run is decided only with its first order."""

    async def cool_down(self, run: RunId) -> Usage:
        """Do nothing, as nothing was warmed up, and return no usage."""
        del run
        return Usage()

    async def answer(self, run: RunId, answer: Answer) -> None:
        """Pass a person's answer to the run. The value of a secret leaves this process only encrypted for the run's
        host.
        """
        known = self._hub.known_runs.get(run)
        if known is None:
            self._run(run).deferred.append(answer)
        elif not known.host:
            await self._local.answer(run, answer)
        else:
            await self._run(run).send(self._run(run).answer_for(known.host, answer))

    async def signal(self, run: RunId, signal: Signal) -> None:
        """Pause, resume, steer or cancel the run. A host that is unreachable now gets the signal before it continues
        the run.

        Raises TimeoutError if a pause has not taken effect in time, or could not be delivered.
        """
        known = self._hub.known_runs.get(run)
        if known is not None and not known.host:
            await self._local.signal(run, signal)
            return
        followed = self._run(run)
        if known is None:
            followed.deferred.append(signal)
            if isinstance(signal, Cancel):
                followed.events.put_nowait(Change.CANCELLED)
            return
        said = await followed.send(GiveSignal(id=new_id(), run=run, signal=signal))
        if isinstance(signal, Cancel) and not said:
            followed.events.put_nowait(Change.CANCELLED)
        if isinstance(signal, Pause) and not said:
            raise TimeoutError

    async def rest(self, run: RunId) -> None:
        """Let the run return its phone, with its settings restored, because no part of the task needs it for now."""
        known = self._hub.known_runs.get(run)
        if known is None:
            return
        if known.host:
            await self._run(run).send(Rest(id=new_id(), run=run))
        else:
            await self._local.rest(run)

    async def release(self, run: RunId) -> None:
        """End the run and return its phone, with its settings restored, because the task is over. An unreachable host
        does so later.
        """
        known = self._hub.known_runs.get(run)
        self._runs.pop(run, None)
        if known is None or not known.host:
            await self._local.release(run)
        if known is None:
            return
        await self._hub.forget_run(run)
        if known.host:
            with suppress(EngineAway):
                await self._hub.ask(known.host, Release(id=new_id(), run=run), timeout=ASK_S)
            await self._leases.release(run)

    async def shutdown(self) -> None:
        """Stop every run at its next safe point; its events end without RunEnded.

        Runs on this computer return their phones. Hosts finish the current step and wait for the hub's next start.
        """
        for run in self._runs.values():
            run.close()
        await self._local.shutdown()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # HubRuns

    def receive(self, run: RunId, item: Item) -> None:
        """Process a host's message about a run. Messages are processed in the order of their numbers."""
        self._run(run).receive(item)

    def has_undelivered(self, run: RunId) -> bool:
        """Return whether there are undelivered messages to the run's host."""
        return run in self._runs and bool(self._runs[run].undelivered)

    def host_changed(self, host: str) -> None:
        """Notify the runs of a host that came, left, restarted or has been away for too long."""
        for run in list(self._runs.values()):
            known = self._hub.known_runs.get(run.id)
            if known is not None and known.host == host:
                run.events.put_nowait(Change.HOST)

    def resend_lost_orders(self, host: str, runs: frozenset[str]) -> None:
        """Send orders again for runs that the host should be working on but does not name: they were lost on the way,
        or in a restart.

        `runs` are the ids of the runs that the host is working on.
        """
        now = steady_now()
        for run in self._runs.values():
            known = self._hub.known_runs.get(run.id)
            if known is None or known.host != host or run.order is None or str(run.id) in runs:
                continue
            if now - run.ordered_at > ORDER_AGAIN_S:
                self._spawn(run.send_order(host, run.order))

    def retry_deliveries(self) -> None:
        """Try again to deliver messages that could not be delivered."""
        for run in self._runs.values():
            known = self._hub.known_runs.get(run.id)
            if (
                known is not None
                and run.undelivered
                and not run.send_lock.locked()
                and self._hub.hosts.usable(known.host)
            ):
                self._spawn(run.send_undelivered(known.host))

    def leases(self) -> Iterable[Lease]:
        """Return the leases of phones that runs have now."""
        return self._leases.held

    def confirm_stored(self, task: str, event: TaskEvent) -> None:
        """Record that this event is stored in the task's log, so that host messages up to it can be deleted."""
        run = self._runs.get(RunId(task))
        if run is not None:
            run.confirm_stored(event)

    # which machine does a run

    async def _choose(self, run: HostedRun, order: RunOrder) -> AsyncGenerator[Waiting | RunEnded | str, None]:
        """Yield the places in the queue and then the host that is to do the run ("" for this machine), or its end if
        there is no phone.
        """
        if await self._local.phone_of(order):
            yield ""
            return
        run.acquire(order.phone, first=False)
        try:
            while True:
                match await run.events.get():
                    case Place() as place:
                        yield Waiting(place=place.number, phone=place.phone)
                    case Lease(phone=phone):
                        yield self._phones.host_of(phone)
                        return
                    case NoPhone() as none:
                        fault = fault_of(none)
                        yield cut_off(order, fault.outcome, fault.sentence)
                        return
                    case Change.CANCELLED:
                        yield cut_off(order, Outcome.CANCELLED, "")
                        return
                    case Change.CLOSING:
                        return
                    case _:
                        pass
        finally:
            run.stop_acquiring()

    async def _here(self, run: HostedRun, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        before, run.deferred = run.deferred, []
        for each in before:
            if isinstance(each, Answer):
                await self._local.answer(order.run, each)
            else:
                await self._local.signal(order.run, each)
        async with aclosing(self._local.start(order)) as events:
            async for event in events:
                yield event

    def _run(self, run: RunId) -> HostedRun:
        if run not in self._runs:
            self._runs[run] = HostedRun(run, self._hub, self._leases, self._secrets, self._frames)
        return self._runs[run]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("An order to a host failed: %s", error)
