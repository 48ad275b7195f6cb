"""Keeps the card of each task in its chat up to date: sends it once, edits it in place, sends a new one before it gets
too old to edit, and finishes it at the end.
"""

from __future__ import annotations

import logging
import math
import zlib
from collections.abc import Callable
from contextlib import suppress
from datetime import tzinfo

from agent.ports.stores import Frames
from bot.cards.card import live_card
from bot.cards.formatting import status_words, title_of
from bot.domain.address import Address
from bot.domain.chat import ChatError, ChatGone
from bot.domain.outgoing import Message
from bot.domain.task import Task, TaskState
from bot.outbox.places import place_of
from bot.outbox.rate_limit import RateLimitedChat
from bot.store.errors import StoreAway
from bot.store.outbox import CardRef, Cards
from bot.tasks.service import TaskService
from bot.texts import say

LIFETIME_MARGIN = 300.0
"""Seconds before the end of a card's lifetime at which it moves; more than one step takes."""
HEARTBEAT = 30.0
"""Seconds after which a working task's card is refreshed for its clock, even without news."""

logger = logging.getLogger(__name__)


class CardSlot:
    """Sends and edits the cards of one conversation. Only the newest state of a task is shown."""

    def __init__(
        self,
        chat: RateLimitedChat,
        task_service: TaskService,
        cards: Cards,
        frames: Frames,
        zone: tzinfo,
        clock: Callable[[], float],
    ) -> None:
        self._chat = chat
        self._task_service = task_service
        self._cards = cards
        self._frames = frames
        self._zone = zone
        self._clock = clock
        self._shown: dict[str, Message] = {}
        self._frozen: set[str] = set()
        self._kept: dict[str, CardRef] = {}
        """Stored cards by task, as a cache: no other code writes them while this conversation runs."""
        self._unkept: dict[str, CardRef] = {}
        """Cards that were sent while nothing could be written."""

    async def show(self, task: Task) -> bool:
        """Update the card to the task's current state. Returns False if nothing had to be sent.

        A new card is sent if the old one was deleted, is too old to edit, or is at a place that the task has left.
        Raises FloodWait, ChatGone (the place no longer exists) or ChatError.
        """
        if self._chat.capabilities.counts_down and task.id in self._shown:
            return False  # such a chat draws the card itself; sending it once has opened its place
        message = await self._rendered(task)
        card = await self._card(task.id)
        moves = card is not None and (self._is_old(card) or card.message.address != task.place)
        if self._shown.get(task.id) == message and not moves:
            return False
        former = card
        if card is not None and moves:
            await self._retire(card, task)
            card = None
        if card is not None:
            try:
                await self._chat.edit(card.message, message)
            except ChatGone:
                logger.info("the card of task %s is gone; it is made anew", task.id)
                card = None
        if card is None:
            place = await place_of(task, self._chat.chat, self._task_service)
            await self._send(task, place, message, former)
        self._shown[task.id] = message
        return True

    async def freeze(self, task: Task) -> None:
        """Edit the card for the last time, with the outcome and without buttons. Does nothing if there is no card.
        Raises FloodWait.
        """
        if task.id in self._frozen:
            return
        card = await self._card(task.id)
        self._shown.pop(task.id, None)
        if card is not None:
            try:
                await self._chat.edit(card.message, await self._rendered(task))
            except ChatError as error:
                logger.warning("The card of task %s could not be updated with its outcome: %s", task.id, error)
        self._frozen.add(task.id)

    async def next_look(self, task: Task) -> float | None:
        """Return when the card needs an update even without news (Unix seconds): for its clock while the task works,
        and before it is too old to edit. None if never.
        """
        card = await self._card(task.id)
        if card is None:
            return None
        times = [card.made + self._chat.capabilities.card_lifetime - LIFETIME_MARGIN]
        if task.state is TaskState.WORKING:
            times.append(self._clock() + HEARTBEAT)
        return None if math.isinf(min(times)) else min(times)

    def forget(self, task: str) -> None:
        """Delete what is stored in memory about the task: its final message was sent, or never will be."""
        self._shown.pop(task, None)
        self._frozen.discard(task)
        self._kept.pop(task, None)
        self._unkept.pop(task, None)

    async def _rendered(self, task: Task) -> Message:
        return await live_card(
            task,
            self._task_service,
            frames=self._frames,
            now=self._clock(),
            note=lambda each: status_words(self._task_service.status(each), self._zone),
            counts_down=self._chat.capabilities.counts_down,
        )

    def _is_old(self, card: CardRef) -> bool:
        return self._clock() >= card.made + self._chat.capabilities.card_lifetime - LIFETIME_MARGIN

    async def _retire(self, card: CardRef, task: Task) -> None:
        """Remove the buttons of a card that moves; a failure does not stop the new one."""
        try:
            await self._chat.edit(card.message, Message(heading=title_of(task), body=say("card.moved")))
        except ChatError as error:
            logger.info("the old card of task %s stays as it is: %s", task.id, error)

    async def _send(self, task: Task, place: Address, message: Message, former: CardRef | None) -> None:
        """Send the card with a nonce made from the card that it replaces: repeated, it appears once, and it is not
        mistaken for one that was deleted.
        """
        made = self._clock()
        number = 0 if former is None else zlib.crc32(former.message.message.encode())
        ref = await self._chat.send(place, message, nonce=f"c{task.id}-{number:x}")
        self._unkept[task.id] = CardRef(ref, made)
        await self._card(task.id)

    async def _card(self, task: str) -> CardRef | None:
        """The task's card, stored by now if possible; None while it has none."""
        unkept = self._unkept.get(task)
        if unkept is not None:
            with suppress(StoreAway):
                await self._cards.put(task, unkept.message, unkept.made)
                self._kept[task] = unkept
                del self._unkept[task]
            return unkept
        if task not in self._kept and (kept := await self._cards.get(task)) is not None:
            self._kept[task] = kept
        return self._kept.get(task)
