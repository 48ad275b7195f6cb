"""Starts the tasks of schedules when they are due: each run once, with the rights that the person has at that
moment.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.application.access import Caller, NotAllowed, Refused
from bot.application.schedules import yes_of_now
from bot.application.services import Services
from bot.application.tasks import TaskCommands
from bot.cards.formatting import local_time
from bot.domain.schedule import Schedule, count_due, next_due
from bot.domain.task import Task, TaskError, TaskState
from bot.domain.task_request import Origin, TaskRequest, WishedPhone
from bot.domain.watch import TaskWatch
from bot.people.subjects import RolesUnknown, with_roles
from bot.store.errors import StoreAway
from bot.texts import say, speaking

LATE = 120.0
"""Seconds after which a due run counts as missed: it is reported and not made up for. A restart takes less."""
LOOK_AGAIN = 10.0
"""Maximum seconds between two checks, so that new schedules, sleep of the machine or a changed clock are noticed."""
BREATH = 1.0
"""Minimum seconds between two checks."""
COUNTED = 1000
"""Maximum number up to which missed runs are counted."""

logger = logging.getLogger(__name__)


class Scheduler:
    """Starts due schedules, by the time of `services.clock`. `sleep` waits for a number of seconds."""

    def __init__(self, services: Services, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._services = services
        self._sleep = sleep

    async def run(self) -> None:
        """Start due schedules repeatedly until cancelled; a task that is just being started is still started by the
        task service. An error is logged, and the check repeated.
        """
        while True:
            wait = LOOK_AGAIN
            try:
                await self.run_due()
                first = await self._services.store.schedules.first_due()
                if first is not None:
                    # A schedule that failed stays due: it is tried again, but only after a short pause.
                    wait = min(LOOK_AGAIN, max(BREATH, first - self._services.clock()))
            except StoreAway as away:
                logger.debug("the schedules are looked at again: %s", away)
            except Exception:
                logger.exception("The check for due schedules failed and will be repeated")
            await self._sleep(wait)

    async def run_due(self) -> None:
        """Handle every schedule that is due: start its task, or skip the run. An error in one does not affect the
        others.
        """
        for schedule in await self._services.store.schedules.due(self._services.clock()):
            try:
                with speaking(schedule.plan.person.language):
                    await self._handle_due(schedule)
            except StoreAway as away:
                logger.debug("schedule %s is tried again: %s", schedule.id, away)
            except Exception:
                logger.exception("Schedule %s failed and will be tried again", schedule.id)

    async def _handle_due(self, schedule: Schedule) -> None:
        """Handle one due schedule. The event id is made from the stored time, so that a run that an earlier process
        accepted, but died before it stored the next time, is found and not started twice.
        """
        schedules, now = self._services.store.schedules, self._services.clock()
        known = await self._services.task_service.of_event(_origin(schedule))
        if known is not None:
            if known.started is not None or known.state is not TaskState.ENDED:
                await schedules.begun(schedule, known.id)
            now = max(schedule.due, known.created)
        elif now - schedule.due > LATE:
            await self._record_blocked(schedule, self._missed(schedule, now))
        elif (former := await self._unfinished_run(schedule)) is not None:
            if not schedule.skipped:
                await self._record_blocked(schedule, say("scheduled.overlap", task=former.id, **_facts(schedule)))
            await schedules.skipped(schedule)
        else:
            await self._begin(schedule)
        rule = schedule.plan.rule
        await schedules.advance(schedule, next_due(rule, after=max(now, schedule.due), begun=schedule.created))

    async def _begin(self, schedule: Schedule) -> None:
        plan = schedule.plan
        try:
            person = await with_roles(plan.person, plan.place, self._services.policy, self._services.chats)
            caller = Caller(person, plan.place, _event(schedule))
            started = await TaskCommands(caller, self._services).start(
                plan.draft, standing=yes_of_now(caller, self._services, schedule), watch=_reading(schedule)
            )
        except NotAllowed as refused:
            # Told once, of a watch too: somebody who may not use the bot any more would else hear of it every time.
            unwatched = replace(self._request(schedule), watch=None)
            await self._record_blocked(
                schedule, say("scheduled.not_allowed", why=refused, **_facts(schedule)), unwatched
            )
            await self._services.store.schedules.pause(schedule.id)
        except RolesUnknown:
            # Not with the roles of an earlier day: they may have been taken since.
            await self._record_blocked(schedule, say("scheduled.roles_unknown", **_facts(schedule)))
        except (Refused, TaskError) as refused:
            await self._record_blocked(schedule, say("scheduled.refused", why=refused, **_facts(schedule)))
        else:
            logger.info("schedule %s: task %s", schedule.id, started.task.id)
            await self._services.store.schedules.begun(schedule, started.task.id)

    def _missed(self, schedule: Schedule, now: float) -> str:
        number = count_due(schedule.plan.rule, first=schedule.due, until=now, begun=schedule.created, most=COUNTED)
        if number == 1:
            return say("scheduled.missed", **_facts(schedule))
        return say("scheduled.missed_several", number=number, **_facts(schedule))

    async def _unfinished_run(self, schedule: Schedule) -> Task | None:
        """The previous run, if it has not ended."""
        former = await self._services.task_service.get(schedule.task)
        return former if former is not None and former.state is not TaskState.ENDED else None

    async def _record_blocked(self, schedule: Schedule, why: str, request: TaskRequest | None = None) -> None:
        """Store a task that is blocked from the start, so that its end is reported as usual, with a button to run it
        now. For a watch it counts as a reading without a value.
        """
        logger.info("schedule %s: not run", schedule.id)
        await self._services.task_service.turn_down(request or self._request(schedule), why)

    def _request(self, schedule: Schedule) -> TaskRequest:
        """The request for a run that is turned down; its phones are not looked up."""
        plan = schedule.plan
        return TaskRequest(
            plan.draft.text,
            plan.person,
            _origin(schedule),
            phones=tuple(WishedPhone(phone) for phone in plan.draft.device.split(",") if phone),
            options=plan.draft.options,
            max_steps=self._services.live.now.max_steps,
            watch=_reading(schedule),
        )


def _event(schedule: Schedule) -> str:
    return f"schedule-{schedule.id}-{schedule.due:.0f}"


def _origin(schedule: Schedule) -> Origin:
    place = schedule.plan.place
    return Origin(place.address, _event(schedule), private=place.private)


def _reading(schedule: Schedule) -> TaskWatch | None:
    watch = schedule.plan.watch
    return None if watch is None else TaskWatch(schedule=schedule.id, watch=watch)


def _facts(schedule: Schedule) -> dict[str, str]:
    return {"schedule": schedule.id, "time": local_time(schedule.due, ZoneInfo(schedule.plan.rule.zone))}
