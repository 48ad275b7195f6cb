"""What a chat shows of a task: the place of its messages, its card, which is kept up to date by editing, and the
buttons of its questions, which are removed once these are closed.
"""

from __future__ import annotations

import logging
import math
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo

from agent.ports.stores import Frames
from bot.cards.card import live_card
from bot.cards.formatting import status_words, title_of
from bot.cards.question import render_answered
from bot.domain.address import Address
from bot.domain.chat import Chat, ChatError, ChatGone, FloodWait
from bot.domain.outgoing import Message
from bot.domain.task import Task, TaskState
from bot.outbox.rate_limit import RateLimitedChat
from bot.store.errors import StoreAway
from bot.store.outbox import CardRef, Cards
from bot.tasks.service import TaskService
from bot.texts import say

logger = logging.getLogger(__name__)


def conversation_of(task: Task) -> Address:
    """Return the address of the chat in which the task was given, without thread: unless the platform limits each
    thread by itself, all threads of a chat share one rate limit.
    """
    return replace(task.origin, thread="")


def is_group(task: Task) -> bool:
    """Return whether other people can read the chat in which the task was given. A private chat is recognised by
    having the person's own id.
    """
    return task.origin.chat != task.person.id


async def place_of(task: Task, chat: Chat, task_service: TaskService) -> Address:
    """Return the task's place, and open it if it has none yet. Raises what `Chat.open_place` raises."""
    if task.place is not None:
        return task.place
    followed = await task_service.get(task.request.follows) if task.request.follows else None
    if task.request.watch is not None or (followed is not None and followed.place == task.origin):
        place = task.origin  # a reading needs no place, and what follows up a task stays where that one was
    else:
        place = await chat.open_place(task.origin, task.request.origin.anchor or None, title_of(task))
    await task_service.set_place(task.id, place)
    return place


async def another_place(task: Task, chat: Chat, task_service: TaskService) -> bool:
    """Give a task whose place no longer exists another one: after its thread, the chat; after the chat, the private
    chat with its person.

    A task given inside a thread that was not opened for tasks goes directly to the private chat, because the thread
    may have been hidden from some people in the chat. Returns False if there is no place left, so that its messages
    are given up.
    """
    place = task.place or task.origin
    if place.thread and (place != task.origin or await task_service.made_for_tasks(place)):
        logger.warning("The thread of task %s is gone, so its messages go to the chat itself", task.id)
        await task_service.set_place(task.id, replace(place, thread=""))
        return True
    try:
        private = await chat.private_place(task.origin, task.person)
    except (ChatError, FloodWait) as error:
        logger.warning("The messages of task %s cannot go to a private chat: %s", task.id, error)
        return False
    if private in {place, task.origin}:
        return False
    logger.warning("The chat of task %s is gone, so its messages go to its person's private chat", task.id)
    await task_service.set_place(task.id, private)
    return True


TRIES = 100
"""Most attempts to edit a closed question, spread over a longer time than a chat is likely to be unreachable."""


class ShownQuestions:
    """The questions that are shown with buttons in one conversation."""

    def __init__(self, chat: RateLimitedChat, task_service: TaskService) -> None:
        self._chat = chat
        self._task_service = task_service
        self._open: dict[str, str] = {}
        self._failures: dict[str, int] = {}

    def mark_shown(self, question: str, task: str) -> None:
        """Record that a message with buttons shows this question of this task."""
        self._open[question] = task

    async def adopt(self, task: Task) -> None:
        """Record the open questions of a task that an earlier process of the service showed."""
        for question in await self._task_service.open_questions(task=task.id):
            if question.message is not None:
                self.mark_shown(question.question.id, task.id)

    async def close_answered(self, task: Task) -> bool:
        """Edit the messages of the task's closed questions: remove their buttons and show who answered.

        Returns False if one of them could not be edited and should be tried again. Raises FloodWait.
        """
        settled = True
        for question_id in [known for known, owner in self._open.items() if owner == task.id]:
            question = await self._task_service.question(question_id)
            if question is not None and question.answer is None and not question.expired:
                continue
            if question is not None and question.message is not None:
                try:
                    await self._chat.edit(question.message, render_answered(question, task))
                except ChatError as error:
                    self._failures[question_id] = self._failures.get(question_id, 0) + 1
                    if not isinstance(error, ChatGone) and self._failures[question_id] < TRIES:
                        settled = False
                        continue
                    logger.info("the question %s keeps its buttons: %s", question_id, error)
            self._open.pop(question_id, None)
            self._failures.pop(question_id, None)
        return settled


LIFETIME_MARGIN = 300.0
"""Seconds before the end of a card's lifetime at which it moves; more than one step takes."""
HEARTBEAT = 30.0
"""Seconds after which a working task's card is refreshed for its clock, even without news."""


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
        self._cache: dict[str, CardRef] = {}
        """Stored cards by task, as a cache: no other code writes them while this conversation runs."""
        self._unsaved: dict[str, CardRef] = {}
        """Cards that were sent while nothing could be written."""

    async def show(self, task: Task) -> None:
        """Update the card to the task's current state, if it shows another one.

        A new card is sent if the old one was deleted, is too old to edit, or is at a place that the task has left.
        Raises FloodWait, ChatGone (the place no longer exists) or ChatError.
        """
        if self._chat.capabilities.counts_down and task.id in self._shown:
            return  # such a chat draws the card itself; sending it once has opened its place
        message = await self._rendered(task)
        card = await self._card(task.id)
        moves = card is not None and (self._clock() >= self._moves_at(card) or card.message.address != task.place)
        if self._shown.get(task.id) == message and not moves:
            return
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

    async def next_refresh(self, task: Task) -> float | None:
        """Return when the card needs an update even without news (Unix seconds): for its clock while the task works,
        and before it is too old to edit. None if never.
        """
        card = await self._card(task.id)
        if card is None:
            return None
        times = [self._moves_at(card)]
        if task.state is TaskState.WORKING:
            times.append(self._clock() + HEARTBEAT)
        return None if math.isinf(min(times)) else min(times)

    def forget(self, task: str) -> None:
        """Delete what is stored in memory about the task: its final message was sent, or never will be."""
        self._shown.pop(task, None)
        self._frozen.discard(task)
        self._cache.pop(task, None)
        self._unsaved.pop(task, None)

    async def _rendered(self, task: Task) -> Message:
        return await live_card(
            task,
            self._task_service,
            frames=self._frames,
            now=self._clock(),
            note=lambda each: status_words(self._task_service.status(each), self._zone),
            counts_down=self._chat.capabilities.counts_down,
        )

    def _moves_at(self, card: CardRef) -> float:
        return card.made + self._chat.capabilities.card_lifetime - LIFETIME_MARGIN

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
        self._unsaved[task.id] = CardRef(ref, made)
        await self._card(task.id)

    async def _card(self, task: str) -> CardRef | None:
        """The task's card, stored by now if possible; None while it has none."""
        unkept = self._unsaved.get(task)
        if unkept is not None:
            with suppress(StoreAway):
                await self._cards.put(task, unkept.message, unkept.made)
                self._cache[task] = unkept
                del self._unsaved[task]
            return unkept
        if task not in self._cache and (kept := await self._cards.get(task)) is not None:
            self._cache[task] = kept
        return self._cache.get(task)
