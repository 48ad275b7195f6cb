"""The totals of what was used: grouped by person, phone, model and day, in the operator's time zone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.models.base import Usage
from agent.run import Outcome
from bot.domain.address import Person
from bot.domain.locale import day_begins, day_of, last_days, zone_named
from bot.domain.task import Task, TaskState
from bot.store.database import Transaction
from bot.store.store import Store
from bot.store.totals import UsageBy, UsageTotals
from tests.bot.store.conftest import ANNA, add_task, wish
from tests.fixtures.databases import open_store

BERLIN = ZoneInfo("Europe/Berlin")
BEN = Person("telegram", "7", "Ben")
NOW = datetime(2026, 10, 26, 12, tzinfo=UTC).timestamp()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path, clock=lambda: NOW)
    yield opened
    await opened.close()


def moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


async def worked(
    store: Store,
    created: float,
    *,
    person: Person = ANNA,
    phone: str = "pixel",
    model: str = "m1",
    tokens: int = 100,
    cost: float | None = 0.5,
    minutes: float = 2.0,
) -> Task:
    """A task that was accepted then and worked for so many minutes."""
    event = f"{person.id} {created}"
    task = await store.write(lambda transaction: store.tasks.add(transaction, wish(event, person=person), now=created))
    done = replace(
        task,
        state=TaskState.ENDED,
        outcome=Outcome.SUCCEEDED,
        phone=phone,
        steps=3,
        usage=Usage(input=tokens, output=10, cached=5, calls=3, cost=cost),
        started=created + 1.0,
        ended=created + 1.0 + minutes * 60.0,
    )
    await store.write(lambda transaction: store.tasks.save(transaction, done, now=created))
    await store.write(lambda transaction: store.tasks.worked_with(transaction, task.id, model))
    return done


async def test_totals_sum_and_know_what_has_no_price(store: Store) -> None:
    await worked(store, NOW - 100.0)
    await worked(store, NOW - 50.0, cost=None)
    await worked(store, NOW - 5_000.0)
    found = await store.usage.total(NOW - 200.0, NOW)
    assert found == UsageTotals(2, 6, 240.0, Usage(200, 20, 10, 0, 6, cost=0.5), unpriced=1)
    assert found.minutes == 4.0


async def test_one_person_may_have_several_accounts(store: Store) -> None:
    other = Person("telegram", ANNA.id, "Not Anna")
    for person in (ANNA, BEN, other):
        await worked(store, NOW - 10.0, person=person)
    assert (await store.usage.total(0, NOW, [ANNA])).tasks == 1
    assert (await store.usage.total(0, NOW, [ANNA, BEN])).tasks == 2
    assert (await store.usage.total(0, NOW, [])).tasks == 0
    rows = await store.usage.grouped(UsageBy.PERSON, 0, NOW, BERLIN)
    assert {row.key: row.label for row in rows} == {"web:1": "Anna", "telegram:7": "Ben", "telegram:1": "Not Anna"}


async def test_groups_come_with_the_most_used_first(store: Store) -> None:
    await worked(store, NOW - 30.0, phone="old", model="m1", tokens=50)
    await worked(store, NOW - 20.0, phone="pixel", model="m2", tokens=5_000)
    await worked(store, NOW - 10.0, phone="old", model="", tokens=60)
    phones = await store.usage.grouped(UsageBy.PHONE, 0, NOW, BERLIN)
    assert [(row.key, row.totals.tasks) for row in phones] == [("pixel", 1), ("old", 2)]
    models = await store.usage.grouped(UsageBy.MODEL, 0, NOW, BERLIN)
    assert [row.key for row in models] == ["m2", "", "m1"]


async def test_days_begin_where_the_operator_lives(store: Store) -> None:
    await worked(store, moment("2026-10-24 21:59"))
    await worked(store, moment("2026-10-24 22:01"))
    await worked(store, moment("2026-10-25 22:59"))  # the 25th has 25 hours there
    await worked(store, moment("2026-10-25 23:01"))
    rows = await store.usage.grouped(UsageBy.DAY, 0, NOW, BERLIN)
    assert [(row.key, row.totals.tasks) for row in rows] == [("2026-10-24", 1), ("2026-10-25", 2), ("2026-10-26", 1)]
    begin, end = last_days(1, NOW, BERLIN)
    assert (begin, end) == (moment("2026-10-25 23:00"), moment("2026-10-26 23:00"))
    assert last_days(2, NOW, BERLIN)[0] == moment("2026-10-24 22:00")


async def test_what_never_began_does_not_count_and_what_works_counts_so_far(store: Store) -> None:
    turned_down = await add_task(store, "a", now=NOW - 100.0)
    ended = replace(turned_down, state=TaskState.ENDED, outcome=Outcome.BLOCKED, ended=NOW - 99.0)
    await store.write(lambda transaction: store.tasks.save(transaction, ended, now=NOW))
    queued = await add_task(store, "b", now=NOW - 90.0)
    assert (await store.usage.total(0, NOW)) == UsageTotals(tasks=1)
    working = replace(queued, state=TaskState.WORKING, started=NOW - 60.0)
    await store.write(lambda transaction: store.tasks.save(transaction, working, now=NOW))
    assert (await store.usage.total(0, NOW)).seconds == 60.0


async def test_an_open_transaction_sees_its_own_tasks(store: Store) -> None:
    inside, seen = threading.Event(), threading.Event()

    async def work(transaction: Transaction) -> int:
        await store.tasks.add(transaction, wish(), now=NOW - 1.0)
        inside.set()
        assert seen.wait(10.0)
        return (await store.usage.total(0, NOW, source=transaction)).tasks

    writing = asyncio.create_task(store.write(work))
    assert await asyncio.to_thread(inside.wait, 10.0)
    assert (await store.usage.total(0, NOW)).tasks == 0
    seen.set()
    assert await writing == 1


def test_zones_by_name_and_days_without_a_midnight() -> None:
    assert zone_named("Europe/Berlin") == BERLIN
    assert zone_named("").utcoffset(datetime(2026, 1, 1)) is not None  # noqa: DTZ001 - asks the zone
    for bad in ("Europe/Atlantis", "../etc/passwd", "Europe", "\0"):
        with pytest.raises(ValueError, match="time zone"):
            zone_named(bad)
    # Chile's clocks went from 24:00 to 01:00 on that day.
    santiago = ZoneInfo("America/Santiago")
    begins = day_begins(date(2026, 9, 6), santiago)
    assert day_of(begins, santiago) == date(2026, 9, 6)
    assert day_of(begins - 1.0, santiago) == date(2026, 9, 5)


async def test_roles_and_models_are_told_apart_to_the_token(store: Store) -> None:
    acting = Usage(1_000, 50, 400, calls=2, cost=0.02).booked_on("vision", "big")
    planning = Usage(300, 10, calls=1, cost=0.001).booked_on("reasoning", "small")
    reading = Usage(40, 4, calls=1).booked_on("basic", "free")
    checking = Usage(60, 6, calls=1, cost=0.002).booked_on("guard", "big").read_by_guard(1.5)
    old = await worked(store, NOW - 30.0, model="big", tokens=500)
    new = await worked(store, NOW - 20.0, model="big")
    whole = acting + planning + reading + checking
    await store.write(lambda transaction: store.tasks.save(transaction, replace(new, usage=whole), now=NOW))
    again = await store.tasks.get(new.id)
    assert again is not None
    assert again.usage == whole
    models = {row.key: row.totals for row in await store.usage.grouped(UsageBy.MODEL, 0, NOW, BERLIN)}
    assert {name: used.tokens.tokens for name, used in models.items()} == {"big": 1_116 + 510, "small": 310, "free": 44}
    assert {name: (used.tasks, used.steps, used.unpriced) for name, used in models.items()} == {
        "big": (2, 6, 0),
        "small": (1, 0, 0),
        "free": (1, 0, 1),
    }
    assert models["big"].cost == pytest.approx(0.02 + 0.002 + 0.5)
    roles = {row.key: row.totals for row in await store.usage.grouped(UsageBy.ROLE, 0, NOW, BERLIN)}
    assert {name: used.tokens.tokens for name, used in roles.items()} == {
        "vision": 1_050,
        "": old.usage.tokens,
        "reasoning": 310,
        "guard": 66,
        "basic": 44,
    }
    assert (roles["guard"].tokens.guard_tokens, roles["guard"].tokens.guard_seconds) == (66, 1.5)
    total = await store.usage.total(0, NOW)
    assert total.tokens.tokens == sum(used.tokens.tokens for used in roles.values())
    assert (total.tasks, total.steps, total.unpriced) == (2, 6, 1)
    [anna] = await store.usage.grouped(UsageBy.PERSON, 0, NOW, BERLIN)
    assert {(share.role, share.model) for share in anna.totals.tokens.shares} >= {("vision", "big"), ("", "")}
