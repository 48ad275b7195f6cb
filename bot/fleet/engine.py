"""The interface to the engine (message broker) between hub and hosts: what a link to it does, and how it can fail.

`bot.fleet.nats_engine` is the real one, NATS JetStream; `tests.fleet.fake_engine` is one inside the process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol

logger = logging.getLogger(__name__)

AGAIN_S: Final = 0.5
REQUEST_S: Final = 5.0


def steady_now() -> float:
    """Return the event loop's time in seconds, used for all waiting because setting the clock does not change it."""
    return asyncio.get_running_loop().time()


class EngineAway(OSError):
    """The engine, or the machine asked through it, does not answer."""


class EngineRefused(EngineAway):
    """The engine does not let this machine sign in."""


@dataclass(frozen=True)
class Address:
    """Where the engine is, and how this machine signs in: with a key, or with the code of an invitation."""

    url: str
    name: str
    inbox: str = "_INBOX"
    seed: str = ""
    code: str = ""

    def __repr__(self) -> str:
        return f"Address({self.name})"


class Delivery(Protocol):
    """A message that has arrived from the engine."""

    @property
    def subject(self) -> str:
        """The subject under which it was sent."""
        ...

    @property
    def data(self) -> bytes:
        """The message's bytes."""
        ...

    @property
    def reply(self) -> str:
        """The subject for an answer; "" if none is expected."""
        ...

    async def answer(self, data: bytes) -> None:
        """Send an answer. It is dropped if nothing waits for it any more."""
        ...

    async def done(self) -> None:
        """Acknowledge the message, so that its queue does not deliver it again; does nothing for one delivered only
        once.
        """
        ...


class Link(Protocol):
    """One connection to the engine. Every call raises EngineAway once it is over, or if no answer comes in time."""

    @property
    def is_open(self) -> bool:
        """Whether the connection can be used."""
        ...

    async def ended(self) -> None:
        """Return once the connection is over."""
        ...

    async def publish(self, subject: str, data: bytes) -> None:
        """Send a message to whoever is listening now."""
        ...

    async def request(self, subject: str, data: bytes, *, timeout: float = REQUEST_S) -> bytes:
        """Send a request and return the answer."""
        ...

    async def listen(self, subject: str, heard: Callable[[Delivery], Awaitable[None]]) -> None:
        """Call `heard` with each message under this subject, one after the other."""
        ...

    async def flush(self) -> None:
        """Return once the engine has received everything that was sent."""
        ...

    async def store(self, subject: str, data: bytes) -> None:
        """Add a message to the queue for hosts that has this subject; return once it is stored there."""
        ...

    async def add_queue(self, queue: str, subjects: str, *, from_host: bool) -> None:
        """Create a queue that stores messages under these subjects for its reader: from one host, or to hosts.

        The engine answers whoever stores or acknowledges something wherever they want it, with its own rights. So it
        answers only the hub: what a host sends is stored without an answer, until the hub has handled it, and what is
        sent to a host is delivered once, within a minute.
        """
        ...

    async def add_reader(self, queue: str, reader: str, deliver: str, *, subject: str = "", done: bool = False) -> None:
        """Deliver the messages of a queue, under this subject or all, at `deliver`: once, or again until `done`."""
        ...

    async def add_bucket(self, bucket: str) -> None:
        """Create a bucket that stores the last value of each key. Storing one gets no answer, as in `add_queue`."""
        ...

    async def put(self, bucket: str, key: str, value: bytes) -> None:
        """Store the value of a key without waiting: a reader may still get the previous value right afterwards."""
        ...

    async def get(self, bucket: str, key: str) -> bytes:
        """Return the value of a key; b"" if there is none."""
        ...


Connect = Callable[[Address], AbstractAsyncContextManager[Link]]
"""Yields a link until the block ends; raises EngineAway if none can be had."""


async def keep_connected(connect: Connect, address: Address, work: Callable[[Link], Awaitable[None]]) -> None:
    """Call `work` with each new link until this is cancelled; `work` starts what it needs and returns."""
    told = ""
    while True:
        try:
            async with connect(address) as link:
                await work(link)
                if told:
                    logger.warning("The engine can be reached again.")
                told = ""
                await link.ended()
            logger.info("The link to the engine has ended.")
        except EngineAway as away:
            if str(away) != told:
                told = str(away)
                logger.warning("The engine cannot be reached and is tried again: %s", away)
        await asyncio.sleep(AGAIN_S)


async def end_tasks(*tasks: asyncio.Task[None]) -> None:
    """Cancel these tasks and return when they have ended. The cancellation is repeated, because before Python 3.12
    `asyncio.wait_for` loses one that coincides with an answer.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=1.0)
