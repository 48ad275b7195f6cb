"""What somebody with a host's key can do with the engine itself, beside what the program says: headers and replies.

The engine answers in its own name what is stored or acknowledged, wherever the sender wants the answer: into the
subjects of another host, or as a call of the engine's own interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, cast

import pytest
from nats.aio.msg import Msg
from nats.js.client import JetStreamContext

from agent.run import Outcome
from bot.fleet.engine import Address, Link
from bot.fleet.messages import EVENTS, ORDERS, PRESENCE, beats_to, events_of, inbox_of, orders_to
from bot.fleet.nats_engine import NatsLink, connected
from bot.fleet.sign_in import delivery_of, permissions_of
from tests.agent.test_runner_contract import FINISH, OPEN, Running
from tests.fakes.scripted_model import models
from tests.fleet.rig import HASTY, FleetRig, fleet_rig
from tests.fleet.test_borders import order, stolen

pytestmark = pytest.mark.fleet

STREAMS: Final = (f"KV_{PRESENCE}", ORDERS, f"{EVENTS}_shelf", f"{EVENTS}_thief")
HEADERS: Final = (
    {"Nats-Rollup": "all"},
    {"Nats-Rollup": "sub"},
    {"Nats-TTL": "1s"},
    {"Nats-Msg-Id": "1"},
    {"Nats-Incr": "+1"},
    {"Nats-Schedule": "@every 1s", "Nats-Schedule-Target": "$KV.fleet.shelf"},
    {"Nats-Batch-Id": "b", "Nats-Batch-Sequence": "1", "Nats-Batch-Commit": "1"},
    {"Nats-Trace-Dest": "$KV.fleet.shelf"},
    {"Nats-Marker-Reason": "Purge"},
    {"KV-Operation": "PURGE"},
)


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[FleetRig]:
    """Two hosts over a real engine; the thief has the key of the second one."""
    async with fleet_rig(tmp_path, "real", HASTY) as fleet:
        for name in ("shelf", "thief"):
            await fleet.add_host(name, models([OPEN, FINISH])[0])
            await fleet.there(name)
        await fleet.machines["thief"].stop()
        yield fleet


def client_of(link: Link) -> JetStreamContext:
    """The engine as somebody with this link has it."""
    return cast("NatsLink", link)._client.jetstream()


def as_hub(fleet: FleetRig) -> Address:
    return Address(fleet.engine.url, "spy", "_INBOX_hub", seed=fleet.keys.user)


def targets() -> list[str]:
    """Where no answer of the engine may go: what other hosts hear and tell, and the engine's own interface."""
    calls = [f"$JS.API.STREAM.{call}.{stream}" for call in ("PURGE", "DELETE") for stream in STREAMS]
    calls += [f"$JS.API.CONSUMER.DELETE.{ORDERS}.shelf", f"$JS.API.CONSUMER.DELETE.{EVENTS}_shelf.hub"]
    others = [f"$KV.{PRESENCE}.shelf", orders_to("shelf"), beats_to("shelf"), delivery_of("shelf"), "fleet.ask.shelf"]
    return calls + others


async def shelf_works_as_before(fleet: FleetRig, presence: bytes) -> None:
    """Its presence is what it said, its streams are there, and after a restart of the hub it does a task."""
    async with connected(as_hub(fleet)) as link:
        assert await link.get(PRESENCE, "shelf") == presence
        for stream in STREAMS:
            await client_of(link).stream_info(stream)
        await client_of(link).consumer_info(ORDERS, "shelf")
    await fleet.stop_hub()
    await fleet.start_hub()
    phone = await fleet.there("shelf")
    assert (await Running(fleet.runner, order(phone=phone)).ended()).outcome is Outcome.SUCCEEDED


async def presence_of(fleet: FleetRig) -> bytes:
    async with connected(as_hub(fleet)) as link:
        return await link.get(PRESENCE, "shelf")


async def test_no_header_of_one_host_touches_what_another_one_has_told(two: FleetRig) -> None:
    """Seen to fail with the bucket as the client makes it: `Nats-Rollup: all` emptied it of every host."""
    presence = await presence_of(two)
    async with connected(stolen(two, "thief")) as link:
        thief = cast("NatsLink", link)._client
        for subject in (f"$KV.{PRESENCE}.thief", events_of("thief", "1-1"), "fleet.pulse.thief", "fleet.hub.thief"):
            for headers in HEADERS:
                await thief.publish(subject, b"{}", headers=headers)
        await thief.flush()
    await shelf_works_as_before(two, presence)


async def test_the_engine_answers_nothing_that_a_host_stores_wherever_the_answer_shall_go(two: FleetRig) -> None:
    """Seen to fail with streams that answer: the answer overwrote another host's presence, and purged a stream."""
    presence = await presence_of(two)
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    async with connected(as_hub(two)) as spy, connected(stolen(two, "thief")) as link:
        for subject in ("elsewhere", *targets()):
            await cast("NatsLink", spy)._client.subscribe(subject, cb=hear)
        await spy.flush()
        heard.clear()
        thief = cast("NatsLink", link)._client
        for told in permissions_of("thief")["pub"]["allow"]:
            for reply in ("elsewhere", *targets()):
                await thief.publish(told.replace("*", "1-1").replace(">", "1.1.1.1.1.0"), b"", reply=reply)
                await thief.publish(told.replace("*", "1-1").replace(">", "1.1.1.1.1.0"), b"{}", reply=reply)
        await thief.flush()
        await spy.flush()
        assert [(each.subject, each.data) for each in heard if b'"shelf"' not in each.data] == [], "only its beats"
    await shelf_works_as_before(two, presence)


async def test_an_order_that_is_acknowledged_has_no_answer_either(two: FleetRig) -> None:
    """Seen to fail with orders that a host acknowledges: the empty answer of the engine deleted a stream of the others,
    and another host's presence was empty.
    """
    presence = await presence_of(two)
    delivered: asyncio.Queue[Msg] = asyncio.Queue()

    async def deliver(message: Msg) -> None:
        delivered.put_nowait(message)

    async with connected(stolen(two, "thief")) as link:
        thief = cast("NatsLink", link)._client
        await thief.subscribe(delivery_of("thief"), cb=deliver)
        await thief.flush()
        for reply in targets():
            async with connected(as_hub(two)) as hub:
                await hub.store(orders_to("thief"), b"{}")
            async with asyncio.timeout(20):
                message = await delivered.get()
            for word in (b"", b"+ACK", b"-NAK", b"+WPI", b"+TERM", b"+NXT"):
                await thief.publish(message.reply or "nowhere", word, reply=reply)
        await thief.flush()
    await shelf_works_as_before(two, presence)


async def test_streams_are_bounded_and_only_the_engines_limits_remove_anything(two: FleetRig) -> None:
    """Seen to fail without limits: a host, or a hub that is away for long, filled the engine's disk."""
    async with connected(as_hub(two)) as link:
        for stream in STREAMS:
            kept = (await client_of(link).stream_info(stream)).config
            assert 0 < (kept.max_bytes or 0) <= 64 * 1024 * 1024, stream
            assert 0 < (kept.max_msg_size or 0) <= 1024 * 1024, stream
            assert kept.deny_delete
            assert not kept.allow_rollup_hdrs
            assert kept.no_ack == (stream != ORDERS), "only the hub stores orders, and has to know of it"
            assert not kept.allow_direct or stream.startswith("KV_")


async def test_a_host_that_fills_its_stream_takes_no_room_of_another(two: FleetRig) -> None:
    """Seen to fail with one stream for all: what the other host had told was thrown out, or not taken."""
    async with connected(stolen(two, "thief")) as link, connected(stolen(two, "shelf")) as other:
        await two.stop_hub()
        await other.publish(events_of("shelf", "1-1"), b"the other one's")
        await other.flush()
        for _ in range(40):
            await link.publish(events_of("thief", "1-1"), bytes(900_000))
        await link.flush()
        async with connected(as_hub(two)) as hub:
            kept = (await client_of(hub).stream_info(f"{EVENTS}_thief")).state.bytes
            shelf = await client_of(hub).get_last_msg(f"{EVENTS}_shelf", events_of("shelf", "1-1"))
    await two.start_hub()
    assert kept <= 32 * 1024 * 1024
    assert shelf.data == b"the other one's"


def test_a_host_may_say_nothing_to_the_engines_own_interface() -> None:
    said = permissions_of("shelf")["pub"]["allow"]
    assert not [subject for subject in said if subject.startswith(("$JS", "$SYS", "_INBOX"))]
    assert inbox_of("shelf") not in said
