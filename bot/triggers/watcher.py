"""Reads the notifications of phones that have a trigger, and gives the tasks that they begin: once each, with the
rights of that moment.

A look reads only; it needs no lease and disturbs no task. What a look shows that the one before has shown is not
considered again. The mark of what began a task is written with the task.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from agent.guards.policy import Policy
from agent.ports.agent import ReceivedText
from bot.application.access import Caller, NotAllowed, Refused, audited, require
from bot.application.schedules import yes_of_now
from bot.application.services import Services
from bot.application.tasks import TaskCommands
from bot.domain.right import Right
from bot.domain.schedule import Schedule
from bot.domain.task import OverQuota, OverTriggerLimit, TaskError
from bot.domain.task_request import Origin, TaskRequest, WishedPhone
from bot.domain.trigger import TaskTrigger, mark_of
from bot.people.roles import RolesUnknown, with_roles
from bot.store.schedules import HOUR
from bot.texts import say, speaking
from bot.triggers.codes import tells_code
from devices.errors import PhoneError
from devices.notification import PhoneNotification
from devices.phone import NotificationSource
from devices.recent import Recent

PAUSE: Final = 5.0
"""Seconds between two looks."""
LOOK: Final = 10.0
"""Seconds that a look at one phone may take: a slow one holds up the others no longer."""
KEPT: Final = 4096
"""Notifications that are remembered as dealt with in this process, beside the marks."""

logger = logging.getLogger(__name__)


class TriggerWatcher:
    """The time is that of `services.clock`; `sleep` lets it pass."""

    def __init__(self, services: Services, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._services = services
        self._sleep = sleep
        self._begun: dict[str, float] | None = None
        """Since when each trigger has been looked for; None before the first look."""
        self._dealt: Recent[tuple[str, str], None] = Recent(KEPT)
        self._told: dict[str, float] = {}
        """When each trigger has last told why it began nothing."""

    async def run(self) -> None:
        """Until cancelled. A fault is logged, and looked for again. Costs nothing while there is no trigger."""
        schedules = self._services.store.schedules
        while True:
            try:
                schedules.trigger_begun.clear()
                if not await self.look():
                    await schedules.trigger_begun.wait()
            except Exception:
                logger.exception("the check of the triggers failed and is tried again")
            await self._sleep(PAUSE)

    async def look(self) -> bool:
        """Look once at every phone that a trigger names; whether there is any."""
        triggers = await self._services.store.schedules.triggers()
        now = self._services.clock()
        # One that was made, or goes on, while this process works takes no notification from before.
        begun = {} if self._begun is None else self._begun
        self._begun = {one.id: begun.get(one.id, one.created if self._begun is None else now) for one in triggers}
        phones: defaultdict[str, list[Schedule]] = defaultdict(list)
        for one in triggers:
            if one.plan.trigger is not None:
                phones[one.plan.trigger.phone].append(one)
        await asyncio.gather(*(self._look_at(phone, found) for phone, found in phones.items()))
        return bool(triggers)

    async def _look_at(self, phone_id: str, triggers: Iterable[Schedule]) -> None:
        packages: defaultdict[str, list[Schedule]] = defaultdict(list)
        for one in triggers:
            if one.plan.trigger is not None:
                packages[one.plan.trigger.package].append(one)
        try:
            async with asyncio.timeout(LOOK):
                phone = self._services.phones.get(phone_id)
                if not isinstance(phone, NotificationSource):
                    return
                shown = [(one, await phone.notifications(package)) for package, one in packages.items()]
        except (PhoneError, TimeoutError) as away:
            logger.debug("the notifications of %s cannot be read now: %s", phone_id, away)
            return
        for found, notifications in shown:
            for schedule in found:
                for notification in notifications:
                    await self._consider(schedule, phone_id, notification)

    async def _consider(self, schedule: Schedule, phone_id: str, one: PhoneNotification) -> None:
        trigger, now = schedule.plan.trigger, self._services.clock()
        assert trigger is not None
        assert self._begun is not None
        mark = mark_of(phone_id, one)
        if (schedule.id, mark) in self._dealt or not trigger.takes(one) or one.age >= now - self._begun[schedule.id]:
            return
        try:
            if not await self._services.store.schedules.is_marked(schedule.id, mark):
                with speaking(schedule.plan.person.language):
                    await self._deal(schedule, mark, one, now)
            self._dealt[schedule.id, mark] = None
        except Exception:
            logger.exception("trigger %s failed and is tried again", schedule.id)

    async def _deal(self, schedule: Schedule, mark: str, one: PhoneNotification, now: float) -> None:
        trigger, plan = schedule.plan.trigger, schedule.plan
        assert trigger is not None
        if trigger.quiet is not None and trigger.quiet.hold(datetime.fromtimestamp(now, ZoneInfo(plan.rule.zone))):
            logger.info("trigger %s: nothing begins in its quiet hours", schedule.id)
            return
        said = f"{one.title}\n{one.text}".strip()
        if tells_code(one.text, Policy.default()) or tells_code(said, Policy.default()):
            logger.info("trigger %s: what may be a code begins nothing", schedule.id)
            return
        of = TaskTrigger(schedule=schedule.id, mark=mark, per_hour=trigger.per_hour)
        event = f"trigger-{schedule.id}-{mark}"
        try:
            person = await with_roles(plan.person, plan.place, self._services.policy, self._services.chats)
            caller = Caller(person, plan.place, event)
            async with audited(person, self._services.store):
                require(caller, self._services.policy, Right.USE, phone=trigger.phone)
            started = await TaskCommands(caller, self._services).start(
                plan.draft,
                standing=yes_of_now(caller, self._services, schedule),
                trigger=of,
                received=(ReceivedText(source=trigger.source, text=said),),
            )
        except NotAllowed as refused:
            await self._tell(schedule, of, event, say("trigger.not_allowed", trigger=schedule.id, why=refused), now)
            await self._services.store.schedules.pause(schedule.id)
        except RolesUnknown:
            await self._tell(schedule, of, event, say("trigger.roles_unknown", trigger=schedule.id), now)
        except (OverTriggerLimit, OverQuota, Refused, TaskError) as refused:
            await self._tell(schedule, of, event, say("trigger.refused", trigger=schedule.id, why=refused), now)
        else:
            logger.info("trigger %s: task %s", schedule.id, started.task.id)
            await self._services.store.schedules.begun(schedule, started.task.id)

    async def _tell(self, schedule: Schedule, of: TaskTrigger, event: str, why: str, now: float) -> None:
        """A task that is blocked from its beginning tells why nothing began: once an hour, however many there are."""
        logger.info("trigger %s: nothing begun", schedule.id)
        if now - self._told.get(schedule.id, -HOUR) < HOUR:
            return
        plan = schedule.plan
        request = TaskRequest(
            plan.draft.text,
            plan.person,
            Origin(plan.place.address, event, private=plan.place.private),
            phones=tuple(WishedPhone(phone) for phone in plan.draft.device.split(",") if phone),
            options=plan.draft.options,
            max_steps=self._services.live.now.max_steps,
            trigger=of,
        )
        await self._services.task_service.turn_down(request, why)
        self._told[schedule.id] = now
