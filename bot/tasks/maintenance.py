"""Background work on tasks: recovers what an earlier process left unfinished, and ends what has expired."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from agent.run import Outcome
from bot.domain.clock import ClockWatch
from bot.domain.task import Task, TaskState
from bot.store.errors import StoreAway
from bot.store.store import Store
from bot.tasks.event_bus import EventBus
from bot.tasks.repository import ServiceLimits, TaskRepository
from bot.tasks.shielded import ShieldedCalls
from bot.tasks.transitions import Ending, QuestionClosing
from bot.tasks.workers import Workers
from bot.texts import say, speaking

logger = logging.getLogger(__name__)


class Maintenance:
    """Recovers tasks at the start, and expires questions and tasks while the service runs."""

    def __init__(
        self,
        store: Store,
        repository: TaskRepository,
        workers: Workers,
        events: EventBus,
        calls: ShieldedCalls,
        clock: Callable[[], float],
        limits: ServiceLimits,
        clock_watch: ClockWatch,
    ) -> None:
        self._store = store
        self._repository = repository
        self._question_closing = QuestionClosing(store, clock)
        self._workers = workers
        self._events = events
        self._calls = calls
        self._clock = clock
        self._limits = limits
        self._watch = clock_watch
        self._clock_shift = 0.0
        """Seconds by which the clock was set and which are not written yet."""
        self._last_round = time.monotonic()

    async def recover(self) -> None:
        """Recover the unfinished tasks of an earlier process. Tasks that were working on a phone become interrupted and
        ask their person; waiting and queued ones continue in the order of their acceptance, but one that was queued for
        hours is interrupted too.

        A task that was only planning is still queued: it has no phone yet and keeps its place. Work of the team, which
        uses no phone, continues too, because it cannot have touched anything. A task with parts takes its state from
        them. The run of a watch asks nobody: it ends without a value, because the next run is due soon.
        """
        now = self._clock()
        for task in [task for task in await self._store.tasks.active() if not task.parts]:
            match task.state:
                case TaskState.WORKING if task.holds_phone:
                    await self._interrupt(task)
                case TaskState.QUEUED if now - task.created > self._limits.queued:
                    await self._interrupt(task)
                case TaskState.QUEUED | TaskState.WAITING | TaskState.WORKING:
                    self._workers.start(task)
                case _:
                    pass

    async def run(self) -> None:
        """Expire questions and tasks again and again until cancelled. A failure is logged, and retried in the next
        round.
        """
        while True:
            self._last_round = time.monotonic()
            await asyncio.sleep(self._limits.tick)
            try:
                await self.expire()
            except StoreAway as away:
                logger.debug("the upkeep waits: %s", away)
            except Exception:
                logger.exception("The maintenance of tasks failed and will be repeated")

    def seconds_since_round(self) -> float:
        """Return the seconds since the last round of `run`, to detect that it hangs."""
        return time.monotonic() - self._last_round

    async def expire(self) -> None:
        """Close expired questions, and end interrupted tasks that were not resumed in time."""
        await self._follow_clock()
        now = self._clock()
        for question in await self._question_closing.expire(now):
            self._last_round = time.monotonic()
            self._events.publish_change(question.task)
            # An agent that hangs on one must not keep the others from expiring.
            await self._calls.with_timeout(self._workers.deliver(question))
        for task in await self._store.tasks.interrupted_before(now - self._limits.interrupted):
            with speaking(task.person.language):
                await self._repository.end(task.id, Ending(Outcome.BLOCKED, say("desk.ended.not_resumed")))
            self._events.publish_change(task.id)

    async def _follow_clock(self) -> None:
        """Shift the deadlines if the system clock was set, so that none becomes shorter or longer."""
        self._clock_shift += self._watch.jumped()
        if self._clock_shift:
            logger.warning(
                "The clock was changed by %+.0f s; open questions still last as long as before.", self._clock_shift
            )
            await self._store.deadlines.move(self._clock_shift)
            self._clock_shift = 0.0

    async def _interrupt(self, task: Task) -> None:
        if task.request.watch is not None:
            with speaking(task.person.language):
                await self._repository.end(task.id, Ending(Outcome.FAILED, say("watch.interrupted")))
            self._events.publish_change(task.id)
            return
        await self._repository.change_state(task.id, lambda _task, _asked: TaskState.INTERRUPTED)
        self._events.publish_change(task.id)
