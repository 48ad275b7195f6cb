"""One of two services is killed, stopped or cut off from the record while people use it: the other one takes over, and
afterwards everybody's records agree. FAILOVERS says how often (each way once), FAILOVER_SEED repeats the choices.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.chaos.agent import restless
from tests.chaos.people import REPEAT, OnTelegram
from tests.end_to_end.service import Place
from tests.failover.hubs import LIMIT_S, WAYS, Hub, hub_at
from tests.fakes.model_server import ModelServer
from tests.fakes.telegram import TOKEN, FakeTelegram
from tests.fixtures.adb import AdbServer
from tests.fixtures.databases import ON_POSTGRESQL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not ON_POSTGRESQL, reason="only a record in PostgreSQL can be taken over"),
]

FAILOVERS = int(os.environ.get("FAILOVERS", str(len(WAYS))))
SEED = int(os.environ.get("FAILOVER_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
WITHIN_S = 15.0
"""On a machine with two processes for each processor at most; in proportion on one with more."""
CALM_S = 600.0


class World:
    """Two hubs, a record, phones, a chat and a model."""

    def __init__(self, url: str, hubs: list[Hub], people: OnTelegram, telegram: FakeTelegram) -> None:
        self.url = url
        self.hubs = hubs
        self.people = people
        self.telegram = telegram

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        from tests.fixtures.postgresql import rows_of  # noqa: PLC0415 - an extra

        return rows_of(self.url, statement)

    async def at_work(self) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not self.rows("SELECT 1 FROM tasks WHERE state IN ('working', 'queued')"):
                await asyncio.sleep(0.1)

    async def in_peace(self) -> None:
        self.people.most = 0
        async with asyncio.timeout(CALM_S):
            while self.rows("SELECT 1 FROM tasks WHERE state <> 'ended'") or self.rows(
                "SELECT 1 FROM outbox WHERE kind = 'final' AND state <> 'sent'"
            ):
                await asyncio.sleep(5)
                self.people.look_again()


@asynccontextmanager
async def world(adb: AdbServer, directory: Path, url: str) -> AsyncIterator[World]:
    from devices.virtual_phone.phone import VirtualPhone  # noqa: PLC0415 - a part

    async with AsyncExitStack() as stack:
        telegram = await stack.enter_async_context(FakeTelegram())
        model = await stack.enter_async_context(ModelServer(restless(random.Random(SEED + 1))))
        phones = [await stack.enter_async_context(VirtualPhone()) for _ in range(2)]
        for phone in phones:
            await adb.connect(phone.address)
            stack.push_async_callback(adb.disconnect, phone.address)
        user = telegram.user("alice")
        settings = {
            "ANDROID_SERIALS": ",".join(phone.address for phone in phones),
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_BASE_URL": telegram.base_url,
            "TELEGRAM_ALLOWED_USER_IDS": str(user.id),
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
        }
        hubs = []
        for name in ("one", "two"):
            (directory / name).mkdir()
            place = Place(phones[0], adb, directory / name, settings.copy())
            hubs.append(await stack.enter_async_context(hub_at(place, url)))
        most = max(4, FAILOVERS)
        people = OnTelegram(random.Random(SEED + 2), most, fake=telegram, user=user, chat=telegram.private(user))
        made = World(url, hubs, people, telegram)
        living = asyncio.create_task(people.live())
        try:
            yield made
            judge(made, [receipt.receipt for phone in phones for receipt in phone.journal.inputs() if receipt.receipt])
        finally:
            living.cancel()


async def test_the_other_one_takes_over(adb_server: AdbServer, tmp_path: Path, database: str) -> None:
    say(f"seed {SEED}, {FAILOVERS} failovers")
    chance = random.Random(SEED)
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    async with world(adb_server, tmp_path, database) as all_of_it:
        active, standby = all_of_it.hubs
        await active.begin("Ready.")
        await standby.begin("Standing by")
        await says_so(standby)
        for number in range(FAILOVERS):
            way = WAYS[number % len(WAYS)]
            await all_of_it.at_work()
            await asyncio.sleep(chance.uniform(0.0, 4.0))
            all_of_it.telegram.polling.most = 0
            await active.lose(way)
            lost = time.monotonic()
            await standby.service.says("is this service's from now on")
            had = time.monotonic() - lost
            await standby.service.says("Ready.")
            took[way].append(time.monotonic() - lost)
            busy = os.getloadavg()[0] / (os.cpu_count() or 1) / 2
            assert took[way][-1] < WITHIN_S * max(1.0, busy)
            if way == "cut":
                assert all_of_it.telegram.polling.most <= 1, "the chat was connected twice"
            await asyncio.sleep(chance.uniform(0.0, 2.0))
            await active.come_back(way)
            active, standby = standby, active
            await standby.begin("Standing by")
            all_of_it.people.look_again()
            say(f"{number + 1} {way}: record after {had:.1f} s, ready after {took[way][-1]:.1f} s, load {busy:.1f}")
        await all_of_it.in_peace()
    for way, seconds in took.items():
        if seconds:
            say(f"{way}: {len(seconds)} times, {min(seconds):.1f} to {max(seconds):.1f} s")


async def says_so(standby: Hub) -> None:
    """To programs, on its page, and to the doctor; it does what it is asked for by nobody."""
    async with asyncio.timeout(LIMIT_S):
        while not (standby.place.data / "console.json").exists():
            await asyncio.sleep(0.1)
    told = await standby.service.health()
    assert told["healthy"]
    assert told["standing_by"]["active"] == socket.gethostname()
    _, out, _ = await standby.place.opengui("doctor")
    assert f"the active service is {socket.gethostname()}" in out
    code, _, why = await standby.place.opengui("do", "open the clock")
    assert code
    assert "is on standby" in why


def judge(made: World, receipts: list[str]) -> None:
    """From the phones' own record, the chat's own record and the database."""
    found = made.rows("SELECT id, text, COALESCE(outcome, '') FROM tasks ORDER BY id")
    assert found, "no task was ever accepted"
    assert [text for text, times in Counter(text for _, text, _ in found).items() if times > 1] == [], "accepted twice"
    marked = 0
    for number, text, outcome in found:
        shown = made.people.finals(str(text))
        unmarked = [message for message in shown if REPEAT not in message.text]
        rows = made.rows(f"SELECT attempts FROM outbox WHERE kind = 'final' AND task = {number}")
        assert len(rows) == 1, f"task {number} ({outcome}) has {len(rows)} finals"
        assert shown, f"the end of task {number} was never told"
        assert len(unmarked) <= 1, f"the end of task {number} was told {len(shown)} times"
        assert len(shown) <= int(str(rows[0][0]))
        marked += len(shown) - 1
    doubled = [receipt for receipt, times in Counter(receipts).items() if times > 1]
    say(
        f"{len(found)} tasks ({dict(Counter(outcome for *_, outcome in found))}), finals per task 1, {marked} told "
        f"again (marked); {len(receipts)} inputs, doubled {len(doubled)}"
    )
    assert receipts, "the phones were never touched"
    assert doubled == [], "an action reached a phone twice"
    assert made.rows("SELECT phone, run FROM leases WHERE released IS NULL") == []


def say(text: str) -> None:
    print(f"failover: {text}", file=sys.__stderr__, flush=True)
