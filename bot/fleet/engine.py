"""The interface to the engine, the message broker between hub and hosts: what a connection to it can do, and how it
can fail.

`bot.fleet.nats_engine` implements it with NATS JetStream; `tests.fleet.fake_engine` within one process.
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
    """Return the event loop's time in seconds. All waiting uses it, because setting the system clock does not change
    it.
    """
    return asyncio.get_running_loop().time()


class EngineAway(OSError):
    """The engine (message broker), or the computer asked through it, does not answer."""


class EngineRefused(EngineAway):
    """The engine (message broker) does not let this computer sign in."""


@dataclass(frozen=True)
class Address:
    """Where the engine (message broker) is, and how this computer signs in: with a key, or with the code of an
    invitation.

    - `url`: The engine's URL.
    - `name`: The name of this computer in the fleet.
    - `inbox`: Prefix of the subjects at which it receives answers.
    - `seed`: The secret key, "" for none.
    - `code`: The invitation's code, "" for none.
    """

    url: str
    name: str
    inbox: str = "_INBOX"
    seed: str = ""
    code: str = ""

    def __repr__(self) -> str:
        return f"Address({self.name})"


class Delivery(Protocol):
    """A message received from the engine (message broker)."""

    @property
    def subject(self) -> str:
        """The subject (address) under which the message was sent."""

    @property
    def data(self) -> bytes:
        """The message's bytes."""

    @property
    def reply(self) -> str:
        """The subject for an answer; "" if none is expected."""

    async def answer(self, data: bytes) -> None:
        """Send an answer to the message. It is lost if the sender no longer waits for it."""

    async def done(self) -> None:
        """Acknowledge the message, so that its queue does not deliver it again. Does nothing for a message that is
        delivered only once.
        """


class Link(Protocol):
    """One connection to the engine (message broker). Every call raises EngineAway once it is closed, or if no answer
    comes in time.
    """

    @property
    def is_open(self) -> bool:
        """Whether the connection can be used."""

    async def ended(self) -> None:
        """Wait until the connection is closed."""

    async def publish(self, subject: str, data: bytes) -> None:
        """Send a message to all computers that are listening to this subject now."""

    async def request(self, subject: str, data: bytes, *, timeout: float = REQUEST_S) -> bytes:
        """Send a request and return the answer. Raises EngineAway if none comes within `timeout` seconds."""

    async def listen(self, subject: str, heard: Callable[[Delivery], Awaitable[None]]) -> None:
        """Call `heard` with each message that arrives under this subject (address), one after the other."""

    async def flush(self) -> None:
        """Wait until the engine has received everything that was sent."""

    async def store(self, subject: str, data: bytes) -> None:
        """Add a message to the queue to hosts that has this subject. Returns once the engine has stored it."""

    async def add_queue(self, queue: str, subjects: str, *, from_host: bool) -> None:
        """Create a queue that stores messages with these subjects until they are read: messages from one host, or to
        hosts.

        The engine sends confirmations to any subject that the sender names, with its own unlimited rights, so hosts
        must not get any. Messages from a host are therefore stored without confirmation until the hub has processed
        them, and messages to a host are delivered once, within a minute.
        """

    async def add_reader(self, queue: str, reader: str, deliver: str, *, subject: str = "", done: bool = False) -> None:
        """Deliver the messages of a queue, those with this subject or all, to the subject `deliver`. With `done` each
        is repeated until `Delivery.done` is called.
        """

    async def add_bucket(self, bucket: str) -> None:
        """Create a key-value store that keeps the last value of each key. Storing a value is not confirmed, as in
        `add_queue`.
        """

    async def put(self, bucket: str, key: str, value: bytes) -> None:
        """Store the value of a key in this key-value store without waiting: a reader may still get the previous value
        right afterwards.
        """

    async def get(self, bucket: str, key: str) -> bytes:
        """Return the value of a key in this key-value store; b"" if it has none."""


Connect = Callable[[Address], AbstractAsyncContextManager[Link]]
"""Yields a link until the block ends; raises EngineAway if none can be had."""


async def keep_connected(connect: Connect, address: Address, work: Callable[[Link], Awaitable[None]]) -> None:
    """Keep connecting to the engine until cancelled, and call `work` with each new connection. `work` starts what it
    needs and returns.
    """
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
                logger.warning("The engine cannot be reached; retrying: %s", away)
        await asyncio.sleep(AGAIN_S)


async def end_tasks(*tasks: asyncio.Task[None]) -> None:
    """Cancel these asyncio tasks and return when they have ended.

    The cancellation is repeated, because before Python 3.12 `asyncio.wait_for` loses one that coincides with a result.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=1.0)
