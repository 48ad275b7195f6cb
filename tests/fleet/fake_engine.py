"""An engine in this process: links, queues and buckets as NATS JetStream has them, and who may say and hear what.

Whoever signs in with another key than the hub's is let in by whoever answers for that, as with the real one.
`tests/fleet/test_engine_contract.py` holds both to the same.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import nkeys

from bot.fleet.engine import REQUEST_S, Address, Delivery, EngineAway, EngineRefused, Link
from bot.fleet.keys import HubKeys, claims_of, new_seed, public_of, signed_claims
from bot.fleet.sign_in import CALLOUT

logger = logging.getLogger(__name__)

AGAIN_S: Final = 1.0
"""What is not known to be done by then is delivered again."""
EVERYTHING: Final = {"pub": {"allow": [">"]}, "sub": {"allow": [">"]}}


def matches(pattern: str, subject: str) -> bool:
    """Whether a subject is one of those that a pattern means: `*` is one word of it, `>` all the rest."""
    wanted, found = pattern.split("."), subject.split(".")
    for place, word in enumerate(wanted):
        if word == ">":
            return len(found) > place
        if place >= len(found) or word not in {"*", found[place]}:
            return False
    return len(wanted) == len(found)


@dataclass
class _Stored:
    subject: str
    data: bytes
    delivered: float = float("-inf")
    done: bool = False


@dataclass
class _Reader:
    deliver: str
    subject: str
    once: bool


@dataclass
class _Queue:
    subjects: str
    from_host: bool
    stored: list[_Stored] = field(default_factory=list)
    readers: dict[str, _Reader] = field(default_factory=dict)


@dataclass(frozen=True)
class FakeDelivery:
    """Implements Delivery."""

    subject: str
    data: bytes
    reply: str
    _link: FakeLink
    _stored: _Stored | None

    async def answer(self, data: bytes) -> None:
        if self.reply and self._link.is_open:
            self._link.engine.say(None, self.reply, data)

    async def done(self) -> None:
        if self._stored is not None and self._link.is_open:
            self._stored.done = True


class FakeLink:
    """Implements Link."""

    def __init__(self, engine: FakeEngine, address: Address, permissions: dict[str, Any], user: str = "") -> None:
        self.engine = engine
        self.user = user
        self._address = address
        self._permissions = permissions
        self._closed = asyncio.Event()
        self._listeners: list[tuple[str, asyncio.Queue[FakeDelivery]]] = []
        self._working: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)

    @property
    def name(self) -> str:
        return self._address.name

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    async def ended(self) -> None:
        await self._closed.wait()

    def may(self, what: str, subject: str) -> bool:
        return any(matches(allowed, subject) for allowed in self._permissions[what]["allow"])

    def hears(self, subject: str) -> bool:
        return any(matches(pattern, subject) for pattern, _ in self._listeners)

    def hear(self, delivery: FakeDelivery) -> None:
        for pattern, queue in self._listeners:
            if matches(pattern, delivery.subject):
                queue.put_nowait(delivery)

    async def publish(self, subject: str, data: bytes) -> None:
        self._require_open()
        await asyncio.sleep(0)
        if self.may("pub", subject) and not self.engine.keep(subject, data, from_host=True):
            self.engine.say(self, subject, data)

    async def request(self, subject: str, data: bytes, *, timeout: float = REQUEST_S) -> bytes:
        self._require_open()
        if not self.may("pub", subject):
            raise EngineAway("permissions violation")
        reply = f"{self._address.inbox}.{next(self._numbers)}"
        answers: asyncio.Queue[FakeDelivery] = asyncio.Queue()
        listener = (reply, answers)
        self._listeners.append(listener)
        try:
            if not self.engine.say(self, subject, data, reply=reply):
                raise EngineAway("nobody there listens")
            async with asyncio.timeout(timeout):
                return (await answers.get()).data
        except TimeoutError:
            raise EngineAway("timeout") from None
        finally:
            self._listeners.remove(listener)

    async def listen(self, subject: str, heard: Callable[[Delivery], Awaitable[None]]) -> None:
        self._require_open()
        if not self.may("sub", subject):
            return
        queue: asyncio.Queue[FakeDelivery] = asyncio.Queue()
        self._listeners.append((subject, queue))

        async def work() -> None:
            while True:
                delivery = await queue.get()
                try:
                    await heard(delivery)
                except EngineAway as away:
                    logger.debug("%s was not done: %s", delivery.subject, away)
                except Exception:
                    logger.exception("what was said on %s could not be done", delivery.subject)

        self._working.add(asyncio.create_task(work()))
        self.engine.deliver()

    async def flush(self) -> None:
        self._require_open()
        await asyncio.sleep(0)

    async def store(self, subject: str, data: bytes) -> None:
        self._require_open()
        await asyncio.sleep(0)
        if not self.may("pub", subject):
            raise EngineAway("permissions violation")
        if not self.engine.keep(subject, data, from_host=False):
            raise EngineAway("no queue has this subject")

    async def add_queue(self, queue: str, subjects: str, *, from_host: bool) -> None:
        self._require_open()
        self.engine.queues.setdefault(queue, _Queue(subjects, from_host))

    async def add_reader(self, queue: str, reader: str, deliver: str, *, subject: str = "", done: bool = False) -> None:
        self._require_open()
        found = self.engine.queues[queue]
        found.readers[reader] = _Reader(deliver, subject or found.subjects, once=not done)
        self.engine.deliver()

    async def add_bucket(self, bucket: str) -> None:
        self._require_open()
        self.engine.buckets[bucket]

    async def put(self, bucket: str, key: str, value: bytes) -> None:
        self._require_open()
        if self.may("pub", f"$KV.{bucket}.{key}") and bucket in self.engine.buckets:
            self.engine.buckets[bucket][key] = value

    async def get(self, bucket: str, key: str) -> bytes:
        self._require_open()
        await asyncio.sleep(0)
        return self.engine.buckets[bucket].get(key, b"")

    async def close(self) -> None:
        self._closed.set()
        self._listeners.clear()
        for task in self._working:
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)

    def _require_open(self) -> None:
        if not self.is_open:
            raise EngineAway("the connection is closed")


class FakeEngine:
    """The engine of a hub with these keys. It keeps its queues while it is down."""

    url = "nats://fake.example"

    def __init__(self, keys: HubKeys) -> None:
        self._own = {public_of(keys.user), public_of(keys.system)}
        self._server = new_seed(nkeys.PREFIX_BYTE_ACCOUNT)
        self._up = True
        self._cut: set[str] = set()
        self._links: dict[int, FakeLink] = {}
        self._numbers = itertools.count(1)
        self.queues: dict[str, _Queue] = {}
        self.buckets: defaultdict[str, dict[str, bytes]] = defaultdict(dict)

    @asynccontextmanager
    async def connected(self, address: Address) -> AsyncIterator[Link]:
        """Implements Connect."""
        number = next(self._numbers)
        self._require_reached(address.name)
        user, permissions = await self._permissions_of(address, number)
        self._require_reached(address.name)
        link = self._links[number] = FakeLink(self, address, permissions, user)
        try:
            yield link
        finally:
            self._links.pop(number, None)
            await link.close()

    async def kill(self) -> None:
        self._up = False
        await self._close(lambda _: True)

    async def start(self) -> None:
        self._up = True

    async def cut(self, name: str) -> None:
        """Nobody of this name gets through any more."""
        self._cut.add(name)
        await self._close(lambda link: link.name == name)

    async def mend(self, name: str) -> None:
        self._cut.discard(name)

    def say(self, sender: FakeLink | None, subject: str, data: bytes, *, reply: str = "") -> bool:
        """Whether anybody has heard it."""
        del sender
        if subject == "$SYS.REQ.SERVER.PING.CONNZ":
            asked = json.loads(data)
            found = [{"cid": number} for number, link in self._links.items() if link.user == asked["user"]]
            told = {"data": {"server_id": "server", "connections": found}}
            return self.say(None, reply, json.dumps(told).encode())
        if subject.startswith("$SYS.REQ.SERVER.") and subject.endswith(".KICK"):
            kicked = self._links.get(int(data.partition(b":")[2].strip(b" }")))
            if kicked is not None:
                self._close_soon(kicked)
            return self.say(None, reply, b"{}")
        heard = [link for link in self._links.values() if link.hears(subject)]
        for link in heard:
            link.hear(FakeDelivery(subject, data, reply, link, None))
        return bool(heard)

    def keep(self, subject: str, data: bytes, *, from_host: bool) -> bool:
        """Put it into the queue of this kind that has the subject; False where there is none."""
        queues = (each for each in self.queues.values() if each.from_host == from_host)
        queue = next((each for each in queues if matches(each.subjects, subject)), None)
        if queue is not None:
            queue.stored.append(_Stored(subject, data))
            self.deliver()
        return queue is not None

    def deliver(self) -> None:
        """Say everything that is stored and not done to who reads it, and again after a while."""
        loop = asyncio.get_running_loop()
        for queue in self.queues.values():
            queue.stored = [each for each in queue.stored if not each.done]
            for stored in queue.stored:
                if loop.time() - stored.delivered < AGAIN_S:
                    continue
                for reader in queue.readers.values():
                    link = next((each for each in self._links.values() if each.hears(reader.deliver)), None)
                    if link is not None and matches(reader.subject, stored.subject):
                        stored.delivered, stored.done = loop.time(), reader.once
                        self._hear_stored(link, reader, stored)
                        loop.call_later(AGAIN_S + 0.01, self.deliver)

    def _hear_stored(self, link: FakeLink, reader: _Reader, stored: _Stored) -> None:
        for pattern, heard in link._listeners:
            if matches(pattern, reader.deliver):
                heard.put_nowait(FakeDelivery(stored.subject, stored.data, "", link, stored))

    async def _permissions_of(self, address: Address, number: int) -> tuple[str, dict[str, Any]]:
        options: dict[str, Any] = {}
        nonce = f"nonce-{number}"
        if address.seed:
            if public_of(address.seed) in self._own:
                return "", EVERYTHING
            signature = nkeys.from_seed(bytearray(address.seed.encode())).sign(nonce.encode())
            options = {"nkey": public_of(address.seed), "sig": base64.b64encode(signature).decode()}
        if address.code:
            options = {"user": "join", "pass": address.code}
        claims = {
            "user_nkey": public_of(new_seed(nkeys.PREFIX_BYTE_USER)),
            "server_id": {"id": "server"},
            "connect_opts": options,
            "client_info": {"nonce": nonce, "id": number},
        }
        asked = signed_claims({"nats": claims}, self._server).encode()
        server = FakeLink(self, Address("", "server", f"_INBOX_server_{number}"), EVERYTHING)
        self._links[-number] = server
        try:
            answer = claims_of((await server.request(CALLOUT, asked)).decode())["nats"]
        except EngineAway as nobody:
            raise EngineAway("nobody says whether this machine is let in") from nobody
        finally:
            del self._links[-number]
        if "error" in answer:
            raise EngineRefused("the engine does not let this machine in")
        user = claims_of(answer["jwt"])
        return str(user["name"]), user["nats"]

    def _require_reached(self, name: str) -> None:
        if not self._up or name in self._cut:
            raise EngineAway("Connection refused")

    async def _close(self, such: Callable[[FakeLink], bool]) -> None:
        for link in [link for link in self._links.values() if such(link)]:
            await link.close()

    def _close_soon(self, link: FakeLink) -> None:
        self._closing = asyncio.ensure_future(link.close())


class FakeCable:
    """The way of one machine to the engine, like `tests.fleet.engine.Cable`."""

    def __init__(self, engine: FakeEngine, name: str) -> None:
        self._engine = engine
        self._name = name
        self.url = engine.url

    async def mend(self) -> None:
        await self._engine.mend(self._name)

    async def cut(self) -> None:
        await self._engine.cut(self._name)
