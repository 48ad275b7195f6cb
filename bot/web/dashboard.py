"""Keeps the state of tasks, phones and questions up to date for all open pages together. Does nothing while none is
open.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from agent.events import Asked, Step
from bot.application.services import Services
from bot.domain.task import StepRow, Task
from bot.domain.task_events import LogEvent, QuestionClosed, StepDone
from bot.store.errors import StoreError
from bot.texts import spoken
from bot.views.tasks import Json
from bot.web.standing import Changes, Standing, standing_after, standing_of, waits_of
from bot.web.views import changes_json, state_json
from bot.web.wakeup import Wakeup

logger = logging.getLogger(__name__)

APART_S = 0.2
"""Least seconds between two updates: a step changes several things at once, and nobody reads faster."""
RESTS = 10
"""Minimum pause between updates as a multiple of an update's duration. With hundreds of tasks or under load, updates
are expensive, and people's requests are more important than what pages show.
"""
AGAIN_S = 30.0
"""Seconds after which everything is read again, for changes that nothing reports, such as a battery level."""


class Shown:
    """The state as the pages show it, encoded only once for all pages that use the same language."""

    def __init__(self, standing: Standing, number: int, told: Callable[[Standing], Json] = state_json) -> None:
        self.standing = standing
        self.number = number
        self._state_of = told
        self._states: dict[str, Json] = {}
        self._told: dict[tuple[str, int], str] = {}

    def state(self) -> Json:
        """Return the whole state in the current language."""
        if (state := self._states.get(spoken())) is None:
            state = self._states[spoken()] = self._state_of(self.standing)
        return state

    def since(self, before: Shown | None) -> str:
        """Return what has changed for a page that last got the state `before`, as JSON; "" if nothing has. None means
        that the page has no state yet.
        """
        key = (spoken(), -1 if before is None else before.number)
        if (told := self._told.get(key)) is None:
            state = self.state()
            news = state | {"whole": True} if before is None else changes_json(before.state(), state)
            told = self._told[key] = json.dumps(news, ensure_ascii=False) if news else ""
        return told


class Dashboard:
    """Holds the state for all pages. It is kept up to date only while a page is open: the store is read after a change,
    and every AGAIN_S seconds.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._changed = Wakeup()
        self._changes = Changes()
        self._whole = True
        """Whether everything is to be read again."""
        self._watchers = 0
        self._keeping: asyncio.Task[None] | None = None
        self.news = Wakeup()
        """Beats when `shown` has changed."""
        self.happened = Wakeup()
        """Beats when there is an event of a task."""
        self.shown: Shown | None = None
        """The latest state, None before the first."""
        self._looks = 0

    async def change(self, _what: str) -> None:
        """Update the state, because the service began or stopped waiting for something. Called as a listener of
        outages.
        """
        self._changed.beat()

    async def now(self) -> Standing:
        """Read the current state from the store and return it. Raises StoreError."""
        return await standing_of(self._services)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Keep `shown` up to date until the block ends, because a page is open."""
        self._watchers += 1
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep(), name="what the console shows")
        try:
            yield
        finally:
            self._watchers -= 1
            if not self._watchers and self._keeping is not None:
                keeping, self._keeping = self._keeping, None
                self.shown = None
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)

    async def _keep(self) -> None:
        self._whole = True
        stops = (
            self._services.store.task_events.on_append(self._hear),
            self._services.task_service.subscribe(self._hear_of),
        )
        phones = asyncio.create_task(self._hear_of_phones())
        try:
            while True:
                changed = self._changed.next()
                began = time.monotonic()
                await self._look()
                await asyncio.sleep(max(APART_S, RESTS * (time.monotonic() - began)))
                try:
                    async with asyncio.timeout(AGAIN_S):
                        await changed.wait()
                except TimeoutError:
                    self._whole = True
        finally:
            for stop in stops:
                stop()
            phones.cancel()
            await asyncio.gather(phones, return_exceptions=True)

    def _hear_of(self, task: str) -> None:
        self._changes.tasks.add(task)
        self._changed.beat()

    def _hear(self, task: Task, event: LogEvent) -> None:
        if isinstance(event, StepDone):
            self._changes.steps[task.parent or task.id] = _row_of(task, event)
        self._changes.questions |= isinstance(event, Asked | QuestionClosed)
        self.happened.beat()

    async def _look(self) -> None:
        changes, whole = self._changes, self._whole
        self._changes, self._whole = Changes(), False
        try:
            if self.shown is None or whole:
                standing = await self.now()
            else:
                standing = await standing_after(self._services, self.shown.standing, changes)
        except StoreError as error:
            self._whole = True
            logger.warning("The state of tasks could not be read, so the console's pages are not up to date: %s", error)
            if self.shown is None:
                return
            standing = replace(self.shown.standing, model=self._services.model(), waits=waits_of(self._services))
        if self.shown is None or standing != self.shown.standing:
            self._looks += 1
            self.shown = Shown(standing, self._looks)
            self.news.beat()

    async def _hear_of_phones(self) -> None:
        while True:
            await self._services.phones.wait_for_change()
            self._changed.beat()


def _row_of(task: Task, step: StepDone) -> StepRow:
    """Return the step as a row with what a card shows."""
    told: dict[str, Any] = {name: getattr(step, name) for name in Step.model_fields if name != "type"}
    part, phone = (task.id, step.phone_name) if task.parent else ("", "")
    return StepRow(task=task.parent or task.id, at=0.0, part=part, phone_name=phone, **told)
