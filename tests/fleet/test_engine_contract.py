"""What hub and hosts build on, held by NATS JetStream and by the engine of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import nkeys
import pytest

from bot.fleet.engine import Address, Connect, Delivery, EngineAway, EngineRefused, Link, keep_connected
from bot.fleet.keys import HubKeys, new_seed
from bot.fleet.nats_engine import connected
from bot.fleet.sign_in import SignIn
from tests.fixtures.databases import open_store
from tests.fleet.engine import Engine, engine_at
from tests.fleet.fake_engine import FakeEngine

LIMIT = 30.0


class Between:
    """An engine that lets in the hub alone."""

    def __init__(self, engine: Engine | FakeEngine, keys: HubKeys) -> None:
        self.engine = engine
        self.connect: Connect = engine.connected if isinstance(engine, FakeEngine) else connected
        self.keys = keys

    def address(self, name: str = "hub") -> Address:
        return Address(self.engine.url, name, f"_INBOX_{name}", seed=self.keys.user)


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.fleet)])
async def between(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Between]:
    keys = HubKeys.kept(tmp_path / "keys.json")
    async with AsyncExitStack() as stack:
        if request.param == "fake":
            yield Between(FakeEngine(keys), keys)
        else:
            yield Between(await stack.enter_async_context(engine_at(tmp_path, keys)), keys)


@pytest.fixture
async def links(between: Between) -> AsyncIterator[tuple[Link, Link]]:
    async with between.connect(between.address()) as one, between.connect(between.address("other")) as other:
        yield one, other


class Heard:
    """What was said somewhere, in order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Delivery] = asyncio.Queue()

    async def __call__(self, delivery: Delivery) -> None:
        self._queue.put_nowait(delivery)

    async def next(self) -> Delivery:
        async with asyncio.timeout(LIMIT):
            return await self._queue.get()

    @property
    def more(self) -> bool:
        return not self._queue.empty()


async def test_what_is_said_is_heard_in_order_by_who_listens(links: tuple[Link, Link]) -> None:
    one, other = links
    heard, words = Heard(), Heard()
    await other.listen("a.*", heard)
    await other.listen("b.>", words)
    await other.flush()
    for number in range(20):
        await one.publish("a.x", str(number).encode())
    await one.publish("a.x.y", b"two words")
    await one.publish("b.x.y", b"all the rest")
    assert [(await heard.next()).data for _ in range(20)] == [str(number).encode() for number in range(20)]
    found = await words.next()
    assert (found.subject, found.data) == ("b.x.y", b"all the rest")
    assert not heard.more


@pytest.mark.slow
async def test_a_request_is_answered_or_nobody_is_there(links: tuple[Link, Link]) -> None:
    one, other = links

    async def answer(delivery: Delivery) -> None:
        if delivery.data != b"silence":
            assert delivery.reply.startswith("_INBOX_hub.")
            await delivery.answer(b"heard " + delivery.data)

    with pytest.raises(EngineAway):
        await one.request("ask", b"anybody?")
    await other.listen("ask", answer)
    await other.flush()
    assert await one.request("ask", b"this") == b"heard this"
    with pytest.raises(EngineAway):
        await one.request("ask", b"silence", timeout=0.3)


@pytest.mark.slow
async def test_who_listens_and_flushes_is_there_at_once(links: tuple[Link, Link]) -> None:
    one, other = links

    async def answer(delivery: Delivery) -> None:
        await delivery.answer(delivery.data)

    for number in range(300):
        await other.listen(f"ask.{number}", answer)
        await other.flush()
        assert await one.request(f"ask.{number}", b"this") == b"this"


@pytest.mark.slow
async def test_what_a_host_says_is_kept_until_it_is_done(between: Between) -> None:
    """Who read it has gone without a word: it comes again to who reads after it."""
    heard = Heard()
    async with between.connect(between.address()) as link:
        await link.add_queue("QUEUE", "q.*", from_host=True)
        for name in ("a", "b", "b"):
            await link.publish(f"q.{name}", name.encode())
        await link.add_reader("QUEUE", "reader", "deliver.reader", subject="q.b", done=True)
        await link.listen("deliver.reader", heard)
        first = await heard.next()
        assert (first.subject, first.data) == ("q.b", b"b")
        await first.done()
        second = await heard.next()
        await link.flush()
    async with between.connect(between.address()) as link:
        await link.add_queue("QUEUE", "q.*", from_host=True)
        await link.add_reader("QUEUE", "reader", "deliver.reader", subject="q.b", done=True)
        await link.listen("deliver.reader", heard)
        again = await heard.next()
        assert again.data == second.data
        await again.done()
        await link.flush()
        with pytest.raises(EngineAway):
            await link.store("nobody.keeps.this", b"")


async def test_what_is_said_to_a_host_is_kept_for_it_and_delivered_once(between: Between) -> None:
    heard = Heard()
    async with between.connect(between.address()) as link:
        await link.add_queue("QUEUE", "q.*", from_host=False)
        await link.add_reader("QUEUE", "reader", "deliver.reader", subject="q.b")
        for name in ("a", "b"):
            await link.store(f"q.{name}", name.encode())
        await link.listen("deliver.reader", heard)
        first = await heard.next()
        assert (first.subject, first.data) == ("q.b", b"b")
        await link.flush()
    async with between.connect(between.address()) as link:
        await link.listen("deliver.reader", heard)
        await link.store("q.b", b"after it")
        assert (await heard.next()).data == b"after it"


async def test_a_bucket_keeps_the_last_value(links: tuple[Link, Link]) -> None:
    one, other = links
    await one.add_bucket("bucket")
    await one.add_bucket("bucket")
    assert await other.get("bucket", "a") == b""
    await one.put("bucket", "a", b"first")
    await one.put("bucket", "a", b"second")
    async with asyncio.timeout(LIMIT):
        while await other.get("bucket", "a") != b"second":
            pass


async def test_a_link_ends_with_the_engine_and_everything_then_is_away(between: Between) -> None:
    async with between.connect(between.address()) as link:
        await link.add_queue("QUEUE", "q.*", from_host=True)
        await between.engine.kill()
        async with asyncio.timeout(LIMIT):
            await link.ended()
        assert not link.is_open
        for call in (
            link.publish("a", b""),
            link.request("a", b""),
            link.store("q.a", b""),
            link.listen("a", Heard()),
            link.flush(),
            link.add_queue("QUEUE", "q.*", from_host=True),
            link.add_reader("QUEUE", "r", "d"),
            link.add_bucket("b"),
            link.put("b", "k", b""),
            link.get("b", "k"),
        ):
            with pytest.raises(EngineAway):
                await call
    with pytest.raises(EngineAway):
        async with between.connect(between.address()):
            pass


@pytest.mark.slow
async def test_what_is_kept_stays_when_the_engine_is_started_anew(between: Between) -> None:
    """What a host publishes is stored a moment after a flush; what has been delivered from the queue is in it."""
    heard, begun = Heard(), asyncio.Event()
    async with between.connect(between.address()) as link:
        await link.add_queue("QUEUE", "q.*", from_host=True)
        await link.add_reader("QUEUE", "reader", "deliver.reader", done=True)
        await link.listen("deliver.reader", heard)
        await link.publish("q.a", b"kept")
        assert (await heard.next()).data == b"kept"
    await between.engine.kill()
    await between.engine.start()

    async def begin(link: Link) -> None:
        await link.add_queue("QUEUE", "q.*", from_host=True)
        await link.add_reader("QUEUE", "reader", "deliver.reader", done=True)
        await link.listen("deliver.reader", heard)
        begun.set()

    keeping = asyncio.create_task(keep_connected(between.connect, between.address(), begin))
    assert (await heard.next()).data == b"kept"
    assert begun.is_set()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


async def test_who_is_not_known_is_let_in_by_the_hub_alone(between: Between, tmp_path: Path) -> None:
    stranger = Address(between.engine.url, "stranger", seed=new_seed(nkeys.PREFIX_BYTE_USER))
    with pytest.raises(EngineAway) as away:
        async with between.connect(stranger):
            pass
    assert not isinstance(away.value, EngineRefused), "nobody is there to say so"
    store = await open_store(tmp_path)
    async with between.connect(between.address()) as link:
        await SignIn(between.keys, store.fleet).listen(link)
        await link.flush()
        for one in (stranger, Address(between.engine.url, "join", code="made-up")):
            with pytest.raises(EngineRefused):
                async with between.connect(one):
                    pass
    await store.close()
