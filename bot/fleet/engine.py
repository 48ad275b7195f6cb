"""The engine between hub and hosts, NATS JetStream: one connection at a time, made anew after whatever ended it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

logger = logging.getLogger(__name__)

CONNECT_S: Final = 3
PING_S: Final = 4
"""Two pings without an answer, and the link is given up: a cable that was cut says nothing."""
AGAIN_S: Final = 0.5
LOOK_S: Final = 1.0
"""A client that was closed while it connected tells nobody."""
REQUEST_S: Final = 5.0
STORE_S: Final = 1.5
"""A server that has just started drops what comes before its streams are there: it is sent again soon."""


class EngineAway(OSError):
    """The engine, or who was asked through it, does not answer."""


class EngineRefused(EngineAway):
    """The engine does not let this machine in."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that has arrived. `answer` replies to a request; `done` says of one from a stream that it is kept."""

    subject: str
    data: bytes
    reply: str
    _message: Msg

    async def answer(self, data: bytes) -> None:
        """Reply to it. One that nobody waits for any more is dropped."""
        if self.reply:
            try:
                await self._message.respond(data)
            except nats.errors.Error as error:
                logger.debug("a reply was not sent: %s", error)

    async def done(self) -> None:
        """It is kept: the stream need not deliver it again."""
        try:
            await self._message.ack()
        except nats.errors.Error as error:
            logger.debug("a message will come again: %s", error)


class Link:
    """One connection. Everything raises EngineAway once it is closed."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stream = client.jetstream(timeout=STORE_S)
        self.closed = asyncio.Event()

    async def ended(self) -> None:
        """Returns once the connection is over."""
        while self._client.is_connected:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self.closed.wait()
                    return

    @property
    def stream(self) -> Any:  # noqa: ANN401 - the client's own JetStream calls, for who sets the engine up
        """JetStream, for setting up streams."""
        return self._stream

    async def publish(self, subject: str, data: bytes) -> None:
        """Say something to whoever listens now."""
        with _told():
            await self._client.publish(subject, data)

    async def request(self, subject: str, data: bytes, *, timeout: float = REQUEST_S) -> bytes:
        """Ask, and wait for the answer."""
        with _told():
            return (await self._client.request(subject, data, timeout=timeout)).data

    async def store(self, subject: str, data: bytes, *, id: str) -> None:  # noqa: A002 - the engine's word
        """Put it into the subject's stream; returns when it is kept there. The same id is kept once."""
        with _told():
            await self._stream.publish(subject, data, headers={"Nats-Msg-Id": id} if id else None)

    async def listen(self, subject: str, heard: Callable[[Delivery], Awaitable[None]]) -> None:
        """Call `heard` with everything that is said there, one after the other."""

        async def on(message: Msg) -> None:
            try:
                await heard(Delivery(message.subject, message.data, message.reply, message))
            except EngineAway as away:
                logger.debug("%s was not done: %s", message.subject, away)
            except Exception:
                logger.exception("what was said on %s could not be done", message.subject)

        with _told():
            await self._client.subscribe(subject, cb=on)

    async def flush(self) -> None:
        """Returns when the engine has everything that was said."""
        with _told():
            await self._client.flush()


class _told:  # noqa: N801 - a small context, as those of contextlib are
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, nats.errors.NoRespondersError):
            raise EngineAway("nobody there listens") from error
        if isinstance(error, (nats.errors.Error, nats.js.errors.Error)) or (
            isinstance(error, OSError) and not isinstance(error, EngineAway)
        ):
            raise EngineAway(str(error) or type(error).__name__) from error


@dataclass(frozen=True)
class Address:
    """Where the engine is, and as whom this machine signs in: with a key, or with the code of an invitation."""

    url: str
    name: str
    inbox: str = "_INBOX"
    seed: str = ""
    code: str = ""

    def __repr__(self) -> str:
        return f"Address({self.name})"


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Link]:
    """A link until the block ends. Raises EngineAway when it cannot be had."""
    client = Client()
    link = Link(client)

    async def closed() -> None:
        link.closed.set()

    async def fault(error: Exception) -> None:
        logger.debug("the engine says: %s", type(error).__name__)

    options: dict[str, Any] = {}
    if address.seed:
        options["nkeys_seed_str"] = address.seed
    if address.code:
        options["user"], options["password"] = "join", address.code
    try:
        async with asyncio.timeout(2 * CONNECT_S):
            await client.connect(
                address.url,
                name=address.name,
                inbox_prefix=address.inbox,
                allow_reconnect=False,
                max_reconnect_attempts=0,
                connect_timeout=CONNECT_S,
                ping_interval=PING_S,
                max_outstanding_pings=2,
                error_cb=fault,
                closed_cb=closed,
                disconnected_cb=closed,
                **options,
            )
            # The client believes to be connected before the engine has let it in.
            await client.flush(CONNECT_S)
    except nats.errors.AuthorizationError as error:
        await _close(client)
        raise EngineRefused("the engine does not let this machine in") from error
    except (nats.errors.Error, OSError) as error:
        await _close(client)
        if "authorization" in str(error).lower():
            raise EngineRefused("the engine does not let this machine in") from error
        raise EngineAway(str(error) or type(error).__name__) from error
    try:
        yield link
    finally:
        await _close(client)


async def _close(client: Client) -> None:
    try:
        async with asyncio.timeout(CONNECT_S):
            await client.close()
    except (nats.errors.Error, OSError) as error:
        logger.debug("the link was not closed: %s", error)


async def keep_connected(address: Address, work: Callable[[Link], Awaitable[None]]) -> None:
    """Call `work` with a link, again and again until this is cancelled: it begins what it needs and returns."""
    told = ""
    while True:
        try:
            async with connected(address) as link:
                await work(link)
                if told:
                    logger.warning("The engine is there again.")
                told = ""
                await link.ended()
            logger.info("The link to the engine has ended.")
        except EngineAway as away:
            if str(away) != told:
                told = str(away)
                logger.warning("The engine cannot be reached and is tried again: %s", away)
        await asyncio.sleep(AGAIN_S)
