"""Leases at a host, by what the hub says of them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from agent.ports.leases import Lease, NoPhone, Place
from agent.run import RunId
from bot.fleet.host_runs import HostLeases
from bot.fleet.messages import Held, Item, PhoneReturned, PhoneWanted
from tests.fixtures.databases import open_store

RUN, OTHER = RunId("7"), RunId("8")


async def lease_of(leases: HostLeases, run: RunId) -> Place | Lease:
    async with aclosing(leases.acquire(run, "pixel")) as queue:
        return await anext(queue)


async def test_a_lease_that_was_given_back_is_not_taken_again_and_a_phone_is_one_runs(tmp_path: Path) -> None:
    """The hub says it until it has heard that it was given back. Seen to fail without the note of what was returned:
    then the run went on under the old lease, lost it with the next beat and with it a model's answer."""
    store = await open_store(tmp_path)
    told: list[tuple[RunId, Item]] = []

    async def tell(run: RunId, item: Item) -> None:
        told.append((run, item))

    leases = HostLeases(store.leases, tell)
    leases.set_granted((Held(phone="pixel", run=RUN, fence=1),))
    assert await lease_of(leases, RUN) == Lease("pixel", RUN, 1)
    await leases.release(RUN)
    again = asyncio.create_task(lease_of(leases, RUN))
    leases.set_granted((Held(phone="pixel", run=RUN, fence=1),))
    await asyncio.sleep(0)
    leases.set_granted((Held(phone="pixel", run=RUN, fence=2),))
    assert await again == Lease("pixel", RUN, 2)
    assert told == [
        (RUN, PhoneWanted(n=0, phone="pixel")),
        (RUN, PhoneReturned(n=0, fence=1)),
        (RUN, PhoneWanted(n=0, phone="pixel")),
    ]
    leases.set_granted((Held(phone="pixel", run=OTHER, fence=3),))
    assert leases.has_lost(RUN)
    after = asyncio.create_task(lease_of(leases, OTHER))
    await asyncio.sleep(0)
    await leases.release(RUN)
    assert await after == Lease("pixel", OTHER, 3)
    await leases.release(OTHER)
    nobody = asyncio.create_task(lease_of(leases, OTHER))
    await asyncio.sleep(0)
    leases.refuse(OTHER, "no phone")
    with pytest.raises(NoPhone, match="no phone"):
        await nobody
    await store.close()
