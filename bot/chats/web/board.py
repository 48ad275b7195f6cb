"""How tasks, phones and questions stand: looked up once for all pages, when something has changed and one watches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.chats.web.pulse import Pulse
from bot.chats.web.views import ConsolePhones, ConsoleQuestions, ConsoleTasks, Standing, standing_of
from bot.store.errors import StoreError

logger = logging.getLogger(__name__)

APART_S = 0.2
"""Seconds between two looks: a step of a run changes several things at once, and nobody reads faster."""
AGAIN_S = 30.0
"""Seconds after which it is looked up although nothing was told, such as a battery that has sunk."""


class Board:
    """Between two changes it asks nothing of the store, and without watchers never."""

    def __init__(self, tasks: ConsoleTasks, questions: ConsoleQuestions, phones: ConsolePhones) -> None:
        self._tasks = tasks
        self._questions = questions
        self._phones = phones
        self._changed = Pulse()
        self._watchers = 0
        self._keeping: asyncio.Task[None] | None = None
        self.news = Pulse()
        """Beats when `standing` is another."""
        self.standing: Standing | None = None
        """What was looked up last, None before."""

    async def now(self) -> Standing:
        """How everything stands now. Raises StoreError."""
        return await standing_of(self._tasks, self._questions, self._phones)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """While this is open, `standing` is kept up to date."""
        self._watchers += 1
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep(), name="what the console shows")
        try:
            yield
        finally:
            self._watchers -= 1
            if not self._watchers and self._keeping is not None:
                keeping, self._keeping = self._keeping, None
                self.standing = None
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)

    async def _keep(self) -> None:
        forget = self._tasks.subscribe(lambda _: self._changed.beat())
        phones = asyncio.create_task(self._hear_of_phones())
        try:
            while True:
                changed = self._changed.next()
                await self._look()
                await asyncio.sleep(APART_S)
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
            logger.warning("The pages of the console are told later how everything stands: %s", error)
            return
        if standing != self.standing:
            self.standing = standing
            self.news.beat()

    async def _hear_of_phones(self) -> None:
        while True:
            await self._phones.wait_for_change()
            self._changed.beat()
