"""The outbox: passes due messages to the asyncio task of their conversation, and keeps these tasks running."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, tzinfo

from bot.domain.address import Address
from bot.domain.chat import Chat
from bot.domain.clock import WaitingClock
from bot.domain.task import Task
from bot.outbox.conversation import Conversation
from bot.outbox.low_priority import Streaming
from bot.outbox.rate_limit import ChatRateLimits
from bot.outbox.shown import conversation_of, is_group
from bot.store.database import Source
from bot.store.errors import StoreAway
from bot.store.outbox import OutboxRow
from bot.store.store import Store
from bot.tasks.service import TaskService

LOOK_AGAIN = 15.0
"""Seconds between two reads of the table without news, for messages that were postponed or whose chat was not
connected.
"""
STOP_LIMIT = 5.0
"""Seconds that a send in progress gets to finish when the service stops; otherwise its result is unknown."""
AFTER_FAULT = 1.0
"""Seconds to wait after an unexpected error."""

logger = logging.getLogger(__name__)


class Outbox:
    """Sends the stored messages that are due, and keeps the cards up to date.

    - `chats`: The connected chats by platform; may grow while this runs.
    - `streaming`: Where steps are shown as messages: in threads, everywhere or nowhere.
    - `rate_limits`: Shared with the answers to people, so that these count too.
    - `clock`: Returns Unix seconds; `sleep` waits for a number of seconds.
    - `zone`: The time zone of times in messages.
    """

    def __init__(
        self,
        task_service: TaskService,
        store: Store,
        chats: Mapping[str, Chat],
        streaming: Streaming,
        *,
        rate_limits: ChatRateLimits | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        zone: tzinfo = UTC,
    ) -> None:
        self._task_service = task_service
        self._store = store
        self._chats = chats
        self._streaming = streaming
        self._time = WaitingClock(clock, sleep)
        self._conversations: dict[tuple[Address, str], Conversation] = {}
        """By chat; where threads have a pace of their own, by chat and task."""
        self._rate_limits = rate_limits or ChatRateLimits(clock)
        self._actors: set[asyncio.Task[None]] = set()
        self._changed: set[str] = set()
        self._wake = asyncio.Event()
        self._dispatcher: asyncio.Task[None] | None = None
        self._zone = zone
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Start sending in the background, and take over the cards of tasks from an earlier process."""
        self._unsubscribe = self._task_service.subscribe(self._listen)
        await self._adopt(lambda task: not task.parent)  # a part is shown on the card of its whole task
        self._dispatcher = asyncio.create_task(self._forever(self._dispatch), name="outbox")

    async def stop(self) -> None:
        """Finish the messages that are being sent within `STOP_LIMIT` seconds, and stop. Messages that are due remain
        stored.
        """
        unsubscribe, self._unsubscribe = self._unsubscribe, lambda: None
        unsubscribe()
        for conversation in self._conversations.values():
            conversation.stop()
        if self._dispatcher is not None:
            self._dispatcher.cancel()
        if self._actors:
            await asyncio.wait(self._actors, timeout=STOP_LIMIT)
        ending = [*self._actors, *([self._dispatcher] if self._dispatcher is not None else [])]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    async def move(self, old: Address, new: str) -> None:
        """Continue the tasks of the chat `old` in the chat with the id `new`. Their stored addresses must have been
        changed before.
        """
        for key in [key for key in self._conversations if key[0] == replace(old, thread="")]:
            self._conversations.pop(key).stop()
        await self._adopt(lambda task: task.origin.chat == new)
        self._wake.set()

    async def reconnect(self, platform: str) -> None:
        """Use the present chat of this platform (or none) for its tasks, after `chats` was changed."""
        for key in [key for key in self._conversations if key[0].platform == platform]:
            self._conversations.pop(key).stop()
        await self._adopt(lambda task: not task.parent and task.origin.platform == platform)
        self._wake.set()

    async def leave(self, place: Address) -> None:
        """Move the unfinished tasks at `place` (a thread, or a chat with its threads) to another place, because the
        bot can no longer write there.
        """
        for task in await self._task_service.active():
            here = task.place or task.origin
            if task.parent or place not in {here, replace(here, thread="")}:
                continue
            if (conversation := self._conversation(task)) is not None:
                conversation.leave(task.id)

    async def _adopt(self, is_meant: Callable[[Task], bool]) -> None:
        for task in await self._task_service.active():
            if is_meant(task) and (conversation := self._conversation(task)) is not None:
                await conversation.adopt(task)

    def _listen(self, task: str) -> None:
        self._changed.add(task)
        self._wake.set()

    async def _dispatch(self) -> None:
        while True:
            self._wake.clear()
            changed, self._changed = self._changed, set()
            tasks, rows = await self._due(changed)
            for task in tasks:
                if (conversation := self._conversation(task)) is not None:
                    conversation.changed(task)
            for row in rows:
                found = await self._task_service.get(row.task)
                if found is not None and (conversation := self._conversation(found)) is not None:
                    conversation.offer(row)
            self._let_go()
            await self._time.rest(self._wake, LOOK_AGAIN)

    async def _due(self, changed: Collection[str]) -> tuple[list[Task], tuple[OutboxRow, ...]]:
        """These tasks, and their messages that can be sent now."""
        now = self._time.now()

        async def work(source: Source) -> tuple[list[Task], tuple[OutboxRow, ...]]:
            tasks = [await self._store.tasks.get(task, source) for task in changed]
            return [task for task in tasks if task is not None], await self._store.outbox.pending(now, source)

        return await self._store.read(work)

    def _let_go(self) -> None:
        """Remove the actors of single tasks that have ended."""
        for key in [key for key, conversation in self._conversations.items() if key[1] and conversation.idle]:
            self._conversations.pop(key).stop()

    def _conversation(self, task: Task) -> Conversation | None:
        """The actor for the task's chat, or for the task; None while its platform is not connected."""
        address = conversation_of(task)
        chat = self._chats.get(address.platform)
        if chat is None:
            return None
        key = (address, (task.parent or task.id) if chat.capabilities.threads_apart else "")
        conversation = self._conversations.get(key)
        if conversation is None:
            group = is_group(task)
            conversation = Conversation(
                chat,
                self._task_service,
                self._store,
                self._streaming,
                self._zone,
                self._time,
                place=task.place or task.origin,
                rate_limit_of=lambda place: self._rate_limits.of(chat.capabilities, place, group=group),
            )
            self._conversations[key] = conversation
            actor = asyncio.create_task(self._forever(conversation.run), name=f"outbox {address}")
            self._actors.add(actor)
            actor.add_done_callback(self._actors.discard)
        return conversation

    async def _forever(self, work: Callable[[], Awaitable[None]]) -> None:
        """Repeat after every error: an unexpected one is logged and does not end the sending, nor does an
        unavailable store.
        """
        while True:
            try:
                return await work()
            except StoreAway as away:
                logger.debug("the outbox waits for the store: %s", away)
            except Exception:
                logger.exception("The outbox met a fault in the program and continues")
            await self._time.sleep(AFTER_FAULT)
