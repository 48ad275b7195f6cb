"""The lifetime of a chat's connection, the same on every platform: `run` maintains it, `close` ends it."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any, Final, Generic, TypeVar

from bot.domain.chat import ChatError
from bot.texts import words

logger = logging.getLogger(__name__)

LOGIN_SECONDS: Final = 30.0
"""Seconds that a message waits for the login before it fails; our choice."""

_CLOSE_SECONDS: Final = 5.0
"""Seconds that closing waits for cancelled work; our choice."""

C = TypeVar("C")
T = TypeVar("T")


class Connection(ABC, Generic[C]):
    """The connection of one bot account to its platform. `C` is the type of the client after the login."""

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

    async def _end(self, work: asyncio.Future[None]) -> None:
        """Cancel `work` and wait for its end."""
        work.cancel()
        await asyncio.wait({work})


class Working:
    """Keeps track of unfinished work for people, so that closing can cancel it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def begin(self, work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
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
        if tasks := set(self._tasks):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
