"""Lists what was missed: once a backlog has come in, one message for each place."""

from __future__ import annotations

import asyncio
import logging

from bot.cards.missed import render_missed
from bot.chats.address import Address
from bot.chats.base import ChatError, ChatGone, FloodWait
from bot.commands.request import Services
from bot.missed.model import Missed
from bot.texts import speaking

GATHER_SECONDS = 3.0
"""How long nothing more must have come before a list is made: platforms deliver a backlog in batches."""
GATHER_MOST = 30.0
"""A list is not put off for longer than this."""
AGAIN_SECONDS = 30.0
"""Pause after a list that could not be sent."""

logger = logging.getLogger(__name__)


class MissedLists:
    """Sends the lists. What is kept but not listed yet when the process dies is listed by the next one."""

    def __init__(self, services: Services, *, gather: float = GATHER_SECONDS) -> None:
        self._services = services
        self._gather = gather
        self._news = asyncio.Event()
        self._news.set()  # what a former process left
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, beside everything else."""
        self._running = asyncio.create_task(self._run(), name="missed")

    async def stop(self) -> None:
        """Look no more."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def came(self) -> None:
        """Something more was kept."""
        self._news.set()

    async def list_all(self) -> bool:
        """Send every list that is due. False when one has to be tried again."""
        sent = [await self._list(place) for place in await self._services.store.missed.unlisted()]
        return all(sent)

    async def show_again(self, missed: Missed) -> None:
        """Bring the list that holds this one up to date; a failure is no loss."""
        chat = self._services.chats.get(missed.late.place.address.platform)
        if chat is None or missed.listed is None:
            return
        listed = await self._services.store.missed.listed_in(missed.listed)
        try:
            with speaking(listed[-1].late.person.language):
                turn = self._services.turns(missed.late.place)
                await chat.edit(missed.listed, render_missed(listed, self._services.zone), turn=turn)
        except (ChatError, FloodWait) as refused:
            logger.info("A list of missed messages stays as it was: %s", refused)

    async def _run(self) -> None:
        while True:
            await self._news.wait()
            await self._gathered()
            try:
                done = await self.list_all()
            except Exception:
                logger.exception("what was missed could not be listed and is tried again")
                done = False
            if not done:
                self._news.set()
                await asyncio.sleep(AGAIN_SECONDS)

    async def _gathered(self) -> None:
        """Wait until nothing more comes."""
        loop = asyncio.get_running_loop()
        until = loop.time() + GATHER_MOST
        while self._news.is_set() and loop.time() < until:
            self._news.clear()
            try:
                async with asyncio.timeout(min(self._gather, until - loop.time())):
                    await self._news.wait()
            except TimeoutError:
                continue
        self._news.clear()

    async def _list(self, place: Address) -> bool:
        table = self._services.store.missed
        chat = self._services.chats.get(place.platform)
        missed = await table.to_list(place)
        if chat is None or not missed:
            return True
        try:
            with speaking(missed[-1].late.person.language):
                message = render_missed(missed, self._services.zone)
                turn = self._services.turns(missed[-1].late.place)
                sent = await chat.send(place, message, nonce=f"missed-{missed[0].id}", turn=turn)
        except ChatGone as gone:
            logger.warning("What was missed in %s cannot be listed there: %s", place, gone)
            await table.forget(missed)
            return True
        except (ChatError, FloodWait) as refused:
            logger.info("What was missed in %s is listed later: %s", place, refused)
            return False
        await table.list_in(missed, sent)
        return True
