"""The lifetime of a chat's connection, the same on every platform: `run` maintains it, `close` ends it."""

from __future__ import annotations

import asyncio
import logging
import secrets
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from bot.chats.incoming import Sending
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError
from bot.domain.outgoing import Message, Turn, at_once
from bot.texts import words

logger = logging.getLogger(__name__)

LOGIN_SECONDS: Final = 30.0
"""Seconds that a message waits for the login before it fails; our choice."""

_CLOSE_SECONDS: Final = 5.0
"""Seconds that closing waits for cancelled work; our choice."""

C = TypeVar("C")
S = TypeVar("S", bound=Sending)
T = TypeVar("T")


class Connection(ABC, Generic[C, S]):
    """The connection of one bot account to its platform. `C` is the type of the client after the login, `S` that of the
    sender, which a subclass sets.
    """

    _sender: S

    def __init__(self, title: str) -> None:
        """`title` is the platform's name for people."""
        self._title = title
        self._client: C | None = None
        self._online = asyncio.Event()
        self._closing = asyncio.Event()
        self._ended = asyncio.Event()
        self._ended.set()

    @abstractmethod
    async def _stay(self) -> None:
        """Log in, set `_client` and `_online`, and stay connected until cancelled. Raises ChatError if the login is
        refused.
        """

    async def run(self) -> None:
        """Stay connected until cancelled or closed, waiting while the platform cannot be reached.

        Raises ChatError if the token is not accepted; its text contains no token.
        """
        if not self._ended.is_set():
            raise RuntimeError("this chat is running already; two readers would take each other's messages")
        self._ended.clear()
        work = asyncio.ensure_future(self._stay())
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait({work, closing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            closing.cancel()
            try:
                await self._end(work)
            finally:
                self._ended.set()  # also when what waits for the end is cancelled itself
        if work.done() and not work.cancelled():
            work.result()

    async def close(self) -> None:
        """Disconnect, and wait until `run` has ended."""
        self._closing.set()
        await self._ended.wait()

    async def logged_in(self) -> C:
        """Return the client, waiting for the login if necessary. Raises ChatError if that takes too long, or at once
        if `close` was called and there is no login.
        """
        try:
            async with asyncio.timeout(0 if self._closing.is_set() else LOGIN_SECONDS):
                await self._online.wait()
        except TimeoutError:
            raise ChatError(words("chats.offline", platform=self._title)) from None
        assert self._client is not None
        return self._client

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        """Open a thread for a task and return it: on message `anchor` or, without one, on a new message with the title.
        Return `origin` in private chats and threads.
        """
        if not origin.guild or origin.thread:
            return origin
        return replace(origin, thread=anchor or await self._starter(origin, title))

    async def close_place(self, place: Address) -> None:
        """Do nothing: a thread that the platform cannot close stays open."""

    async def private_place(self, origin: Address, person: Person) -> Address:
        """Return the private chat with a person, for messages that can no longer be sent to `origin`."""
        return await self._sender.private(origin, person)

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send a new message and return the reference of its first part; see `Chat.send`."""
        return await self._sender.send(place, message, nonce=nonce, turn=turn)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace the contents of a message; see `Chat.edit`."""
        await self._sender.edit(ref, message, turn=turn)

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message, such as a person's answer with a password; see `Chat.delete`."""
        await self._sender.delete(ref)

    async def _starter(self, origin: Address, title: str) -> str:
        """Send a message on which a thread can begin, and return its id."""
        sent = await self._sender.send(origin, Message(heading=title), nonce=f"starter:{secrets.token_hex(8)}")
        return sent.message

    async def _end(self, work: asyncio.Future[None]) -> None:
        work.cancel()
        await asyncio.wait({work})


class BackgroundTasks:
    """Keeps track of unfinished work for people, so that closing can cancel it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        """Start a coroutine as a task and return it; it keeps the caller's context, such as the language. `name` is the
        task's name.
        """
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            logger.error("Work for a chat ended because of a fault in the program", exc_info=fault)

    async def close(self) -> None:
        """Cancel all unfinished work, and wait a few seconds for it to end."""
        await end(self._tasks, _CLOSE_SECONDS)


async def end(work: Iterable[asyncio.Task[Any]], seconds: float) -> None:
    """Cancel the tasks, and wait for them to end, for at most `seconds`."""
    if tasks := set(work):
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=seconds)
