"""What hosts tell of their runs is taken in, also while some of it cannot be stored."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.events import Told as TellCard
from agent.run import RunId
from bot.fleet.bounds import Faults
from bot.fleet.engine import end_tasks
from bot.fleet.hosts import PhoneOwners
from bot.fleet.incoming import Incoming
from bot.fleet.messages import Item, Told, events_of
from bot.store.store import Store
from tests.fixtures.databases import open_store

LIMIT = 10.0
REFUSED, OTHER = RunId("7"), RunId("8")


@dataclass
class Delivered:
    """Implements Delivery."""

    subject: str
    data: bytes
    reply: str = ""
    is_done: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, data: bytes) -> None: ...

    async def done(self) -> None:
        self.is_done.set()


def told(host: str, run: RunId, number: int = 1) -> Delivered:
    return Delivered(events_of(host, run), Told(n=number, event=TellCard(text="t")).model_dump_json().encode())


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await open_store(tmp_path)
    yield made
    await made.close()


async def test_a_report_that_cannot_be_stored_keeps_no_other_away(store: Store, tmp_path: Path) -> None:
    """Seen failing: the task ended without a word, and nothing of any host was stored until the next start."""
    known = {run: await store.fleet.keep_run(run, host, "") for run, host in ((REFUSED, "shelf"), (OTHER, "desk"))}
    followed: asyncio.Queue[RunId] = asyncio.Queue()

    def follow(run: RunId, _item: Item) -> None:
        followed.put_nowait(run)

    faults = Faults()
    incoming = Incoming(store.fleet, known, follow, PhoneOwners(store.fleet), faults)
    with sqlite3.connect(tmp_path / "opengui.sqlite3") as beside:
        beside.execute(
            f"CREATE TRIGGER refuses BEFORE INSERT ON fleet_events WHEN new.run = '{REFUSED}' "
            "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
    deliveries = first, second, later = told("shelf", REFUSED), told("desk", OTHER), told("desk", OTHER, 2)
    await incoming.receive(first)
    await incoming.receive(second)
    taking = asyncio.create_task(incoming.process())
    async with asyncio.timeout(LIMIT):
        assert await followed.get() == OTHER
        await incoming.receive(later)
        assert await followed.get() == OTHER
    assert [each.is_done.is_set() for each in deliveries] == [False, True, True]
    assert (faults["shelf"], faults["desk"]) == (1, 0)
    with sqlite3.connect(tmp_path / "opengui.sqlite3") as beside:
        beside.execute("DROP TRIGGER refuses")
    await incoming.receive(first)
    async with asyncio.timeout(LIMIT):
        assert await followed.get() == REFUSED
    assert first.is_done.is_set()
    assert incoming.received(REFUSED) == 1
    await end_tasks(taking)
