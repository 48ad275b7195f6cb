"""The engine (message broker) implemented with NATS JetStream. All errors of its client are raised as EngineAway."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StreamConfig

from bot.fleet.engine import REQUEST_S, Address, Delivery, EngineAway, EngineRefused, Link

logger = logging.getLogger(__name__)

CONNECT_S: Final = 3
PING_S: Final = 4
"""Seconds between pings. After two without an answer the link is abandoned, because a cut cable reports nothing."""
LOOK_S: Final = 1.0
"""Seconds between checks of the link, because a client that is closed while connecting reports nothing."""
STORE_S: Final = 1.5
"""Time limit for storing. A server that has just started drops messages until its streams exist; they are sent again
soon.
"""
ACK_S: Final = 5.0
"""Time after which a message that was not acknowledged is delivered again."""
KEEP_S: Final = 7 * 86_400.0
"""How long the engine keeps a host's reports; by then the hub has them, or never will."""
ORDER_S: Final = 60.0
"""Time after which an undelivered order is dropped; it is sent again once its host is back."""
MEBIBYTE: Final = 1024 * 1024
QUEUE_BYTES: Final = 16 * MEBIBYTE
"""Bytes of one host's queue, or of all orders: about 9,000 events, which 32 phones produce in three quarters of an
hour. A host keeps what does not fit and sends it again.
"""
BUCKET_BYTES: Final = 64 * MEBIBYTE
VALUE_BYTES: Final = 256 * 1024
"""Bytes of one host's presence, enough for 400 phones. So the bucket has room for 256 hosts, whatever each stores."""
NO_DUPLICATES_S: Final = 0.1
"""Shortest time for which the engine can be set to remember message ids. It would share them among all hosts; these
messages have none.
"""
_BOUNDED: Final = StreamConfig(
    max_msg_size=MEBIBYTE, deny_delete=True, deny_purge=True, allow_rollup_hdrs=False, duplicate_window=NO_DUPLICATES_S
)
_FROM_HOST: Final = _BOUNDED.evolve(
    retention=RetentionPolicy.WORK_QUEUE,
    no_ack=True,
    max_bytes=QUEUE_BYTES,
    max_age=KEEP_S,
    discard=DiscardPolicy.NEW,
)
_TO_HOSTS: Final = _BOUNDED.evolve(retention=RetentionPolicy.INTEREST, max_bytes=QUEUE_BYTES, max_age=ORDER_S)
_BUCKET: Final = _BOUNDED.evolve(
    no_ack=True, max_msgs_per_subject=1, max_bytes=BUCKET_BYTES, max_msg_size=VALUE_BYTES, allow_direct=True
)
_NAME_IN_USE: Final = 10058
"""The engine's error code for a stream that exists with another configuration."""
AHEAD: Final = 5000
"""Messages that the engine delivers ahead of the first one's acknowledgement."""


@dataclass(frozen=True, slots=True)
class NatsDelivery:
    """A message received from NATS. Implements `bot.fleet.engine.Delivery`."""

    subject: str
    data: bytes
    reply: str
    _message: Msg

    async def answer(self, data: bytes) -> None:
        """Send an answer to the message. Errors are only logged."""
        if self.reply:
            try:
                await self._message.respond(data)
            except nats.errors.Error as error:
                logger.debug("a reply was not sent: %s", error)

    async def done(self) -> None:
        """Acknowledge the message, so that its queue does not deliver it again. Does nothing for one delivered only
        once.
        """
        try:
            await self._message.ack()
        except nats.errors.Error as error:
            logger.debug("a message will come again: %s", error)


class NatsLink:
    """A connection to NATS. Implements `bot.fleet.engine.Link`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stream = client.jetstream(timeout=STORE_S)
        self.closed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether the connection can be used."""
        return bool(self._client.is_connected) and not self.closed.is_set()

    async def ended(self) -> None:
        """Wait until the connection is closed."""
        while self.is_open:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self.closed.wait()

    async def publish(self, subject: str, data: bytes) -> None:
        """Send a message to all computers that are listening to this subject now."""
        with _as_away():
            await self._client.publish(subject, data)

    async def request(self, subject: str, data: bytes, *, timeout: float = REQUEST_S) -> bytes:
        """Send a request and return the answer. Raises EngineAway if none comes within `timeout` seconds."""
        with _as_away():
            return (await self._client.request(subject, data, timeout=timeout)).data

    async def listen(self, subject: str, heard: Callable[[Delivery], Awaitable[None]]) -> None:
        """Call `heard` with each message that arrives under this subject, one after the other. Errors of `heard` are
        logged.
        """

        async def on(message: Msg) -> None:
            try:
                await heard(NatsDelivery(message.subject, message.data, message.reply, message))
            except EngineAway as away:
                logger.debug("%s was not done: %s", message.subject, away)
            except Exception:
                logger.exception("A message on %s failed because of a fault in the program", message.subject)

        with _as_away():
            await self._client.subscribe(subject, cb=on)

    async def flush(self) -> None:
        """Wait until the engine has received everything that was sent.

        The client sends its ping at once, ahead of queued messages (`_send_ping`). By the first pong the queue is
        written, so a second ping is certain to be behind it.
        """
        with _as_away():
            await self._client.flush()
            await self._client.flush()

    async def store(self, subject: str, data: bytes) -> None:
        """Add a message to the queue to hosts that has this subject. Returns once the engine has stored it."""
        with _as_away():
            await self._stream.publish(subject, data)

    async def add_queue(self, queue: str, subjects: str, *, from_host: bool) -> None:
        """Create a queue that stores messages with these subjects until they are read; see `Link.add_queue`."""
        await self._add_stream((_FROM_HOST if from_host else _TO_HOSTS).evolve(name=queue, subjects=[subjects]))

    async def add_reader(self, queue: str, reader: str, deliver: str, *, subject: str = "", done: bool = False) -> None:
        """Deliver the messages of a queue to the subject `deliver`; see `Link.add_reader`."""
        made = ConsumerConfig(durable_name=reader, deliver_subject=deliver, filter_subject=subject or None)
        again = made.evolve(ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_S, max_ack_pending=AHEAD)
        with _as_away():
            await self._stream.add_consumer(queue, again if done else made.evolve(ack_policy=AckPolicy.NONE))

    async def add_bucket(self, bucket: str) -> None:
        """Create a key-value store.

        It is not the client's own kind, which anybody who may write one key could empty with a `Nats-Rollup` header.
        """
        await self._add_stream(_BUCKET.evolve(name=f"KV_{bucket}", subjects=[f"$KV.{bucket}.>"]))

    async def put(self, bucket: str, key: str, value: bytes) -> None:
        """Store the value of a key without waiting: a reader may still get the previous value right afterwards.

        It is a plain message, because a host may write its own key but not query the store.
        """
        await self.publish(f"$KV.{bucket}.{key}", value)

    async def get(self, bucket: str, key: str) -> bytes:
        """Return the value of a key in this key-value store; b"" if it has none."""
        with _as_away():
            try:
                last = await self._stream.get_last_msg(f"KV_{bucket}", f"$KV.{bucket}.{key}")
            except nats.js.errors.NotFoundError:
                return b""
            return last.data or b""

    async def _add_stream(self, made: StreamConfig) -> None:
        with _as_away():
            try:
                await self._stream.add_stream(made)
            except nats.js.errors.BadRequestError as error:
                if error.err_code != _NAME_IN_USE:
                    raise
                await self._stream.update_stream(made)


@contextmanager
def _as_away() -> Iterator[None]:
    """Turn every error of the engine's client, timeouts and socket errors included, into EngineAway."""
    try:
        yield
    except EngineAway:
        raise
    except nats.errors.NoRespondersError as error:
        raise EngineAway("nobody there listens") from error
    except (nats.errors.Error, OSError) as error:
        raise EngineAway(str(error) or type(error).__name__) from error


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Link]:
    """Context manager that yields an open connection to the engine (see `Connect`). Raises EngineAway, or
    EngineRefused if this computer may not sign in.
    """
    client = Client()
    link = NatsLink(client)
    faults: list[Exception] = []

    async def closed() -> None:
        link.closed.set()

    async def fault(error: Exception) -> None:
        if not faults:
            faults.append(error)
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
                # With 0 it would retry for ever if nobody listens, and only the limit above would end it.
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=CONNECT_S,
                ping_interval=PING_S,
                max_outstanding_pings=2,
                error_cb=fault,
                closed_cb=closed,
                disconnected_cb=closed,
                **options,
            )
            # The client considers itself connected before the engine has admitted it.
            await client.flush(CONNECT_S)
    except (nats.errors.Error, OSError) as error:
        await _close(client)
        if "authorization" in str(error).lower():
            raise EngineRefused("the engine does not let this machine in") from error
        # "No other servers" is not the reason; the fault of this one is.
        why = faults[0] if faults and isinstance(error, nats.errors.NoServersError) else error
        raise EngineAway(_worded(why)) from error
    try:
        yield link
    finally:
        await _close(client)


def _worded(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted here: {error.verify_message}"
    if isinstance(error, nats.errors.FlushTimeoutError):
        return "nobody says whether this machine is let in; the hub does that, so see whether it is at work"
    return str(error) or type(error).__name__


async def _close(client: Client) -> None:
    try:
        async with asyncio.timeout(CONNECT_S):
            await client.close()
    except (nats.errors.Error, OSError) as error:
        logger.debug("the link was not closed: %s", error)
