"""How tasks, phones and questions stand: looked up once for all pages, when something has changed and one watches."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.application.services import Services
from bot.store.errors import StoreError
from bot.texts import spoken
from bot.views.tasks import Json
from bot.web.views import Standing, changes_json, standing_of, state_json, waits_of
from bot.web.wakeup import Wakeup

logger = logging.getLogger(__name__)

APART_S = 0.2
"""Seconds between two looks: a step of a run changes several things at once, and nobody reads faster."""
RESTS = 10
"""Times as long as a look took are at least between two: with hundreds of tasks, or on a machine under load, a look is
dear, and what people have asked for goes before what pages show.
"""
AGAIN_S = 30.0
"""Seconds after which it is looked up although nothing was told, such as a battery that has sunk."""


class Shown:
    """How everything stands, as pages are told of it: made once for all that read the same language."""

    def __init__(self, standing: Standing, number: int, told: Callable[[Standing], Json] = state_json) -> None:
        self.standing = standing
        self.number = number
        self._state_of = told
        self._states: dict[str, Json] = {}
        self._told: dict[tuple[str, int], str] = {}

    def state(self) -> Json:
        """All of it, in the language that is spoken here."""
        if (state := self._states.get(spoken())) is None:
            state = self._states[spoken()] = self._state_of(self.standing)
        return state

    def since(self, before: Shown | None) -> str:
        """What a page that was told `before` is not told yet, as JSON; empty when that is nothing."""
        key = (spoken(), -1 if before is None else before.number)
        if (told := self._told.get(key)) is None:
            state = self.state()
            news = state | {"whole": True} if before is None else changes_json(before.state(), state)
            told = self._told[key] = json.dumps(news, ensure_ascii=False) if news else ""
        return told


class Dashboard:
    """Between two changes it asks nothing of the store, and without watchers never."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._changed = Wakeup()
        self._watchers = 0
        self._keeping: asyncio.Task[None] | None = None
        self.news = Wakeup()
        """Beats when `shown` is another."""
        self.happened = Wakeup()
        """Beats when there is an event of a task."""
        self.shown: Shown | None = None
        """What was looked up last, None before."""
        self._looks = 0

    async def change(self, _what: str) -> None:
        """Look again: something is waited for, or is no more."""
        self._changed.beat()

    async def now(self) -> Standing:
        """How everything stands now. Raises StoreError."""
        return await standing_of(self._services, None if self.shown is None else self.shown.standing)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """While this is open, `standing` is kept up to date."""
        self._watchers += 1
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep(), name="what the console shows")
        forget = self._services.store.task_events.on_append(lambda *_: self.happened.beat())
        try:
            yield
        finally:
            forget()
            self._watchers -= 1
            if not self._watchers and self._keeping is not None:
                keeping, self._keeping = self._keeping, None
                self.shown = None
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)

    async def _keep(self) -> None:
        forget = self._services.task_service.subscribe(lambda _: self._changed.beat())
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
                    continue
        finally:
            forget()
            phones.cancel()
            await asyncio.gather(phones, return_exceptions=True)

    async def _look(self) -> None:
        try:
            standing = await self.now()
        except StoreError as error:
            logger.warning("The pages of the console are told later how tasks stand: %s", error)
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
