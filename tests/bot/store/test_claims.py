"""What is claimed once is claimed once by eight workers that all want it at the same time, on connections of their own
that are cut meanwhile: nothing twice, and nothing lost.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from agent.ports.journal import ActionKey
from agent.run import RunId
from bot.domain.address import Place
from bot.domain.schedule import Plan, Rule, RuleKind
from bot.domain.task_request import Origin, TaskDraft, TaskRequest
from bot.domain.trigger import TaskTrigger
from bot.store.database import Transaction
from bot.store.errors import StoreAway, StoreConflict, StoreError, StoreUnsure
from bot.store.outbox import Notice, NoticePayload
from bot.store.store import Store
from bot.tasks.repository import ServiceLimits, TaskRepository
from tests.bot.store.conftest import ANNA, HERE, add_task
from tests.fixtures.postgresql import PostgresServer, rows_of, run_on

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

CLAIMS = int(os.environ.get("STORE_CLAIMS", "160"))
"""Of eight workers together, for each kind; `make test-postgres` has 10,000."""
WORKERS = 8
NUMBERS = range(1, CLAIMS // WORKERS + 1)
"""What is there to be claimed: each worker wants each of them."""
CUTS = 5
HOLDER = RunId("1")


@dataclass(frozen=True)
class Kind:
    """Something that is claimed: what is there before, how a worker claims a number, and what counts the rows."""

    prepare: Callable[[Store], Awaitable[object]]
    claim: Callable[[Store, int, int], Awaitable[bool]]
    rows: str


def repository(store: Store) -> TaskRepository:
    return TaskRepository(store, lambda: 1_000.0, ServiceLimits())


async def nothing(_: Store) -> None:
    """All begins with the claims."""


async def lease(store: Store, worker: int, number: int) -> bool:
    taken = await store.leases.take(RunId(f"{number}0{worker}"), f"p{number}", alive=(), now=1.0, expires=9e9)
    assert taken is None or taken.fence == 1
    return taken is not None


async def hold(store: Store) -> None:
    await store.leases.take(HOLDER, "phone", alive=(), now=1.0, expires=9e9)


async def action(store: Store, _: int, number: int) -> bool:
    return await store.journal.begin(ActionKey(HOLDER, 0, number, 0), {"kind": "tap"}, fence=1)


async def messages(store: Store) -> None:
    async def add(transaction: Transaction, task: str) -> None:
        await store.outbox.add(transaction, task, NoticePayload(Notice.STARTED), now=1.0)

    for number in NUMBERS:
        await store.write(partial(add, task=(await add_task(store, str(number))).id))


async def message(store: Store, _: int, number: int) -> bool:
    return await store.outbox.sending(number)


async def plans(store: Store) -> None:
    for number in NUMBERS:
        rule = Rule(RuleKind.EVERY, "3600", "UTC")
        plan = Plan(ANNA, Place(HERE), str(number), rule, "every hour", TaskDraft("look"))
        await store.schedules.add(plan, now=1.0, due=2.0)


async def run(store: Store, _: int, number: int) -> bool:
    """As the scheduler does it, of each that is due."""
    schedule = await store.schedules.get(str(number))
    assert schedule is not None
    request = TaskRequest("look", ANNA, Origin(HERE, f"schedule:{number}:2.0"))
    accepted = await repository(store).accept(request)
    await store.schedules.advance(schedule, 3602.0)
    return not accepted.duplicate


async def notification(store: Store, worker: int, number: int) -> bool:
    """Each worker tells it as an event of its own."""
    trigger = TaskTrigger(schedule="1", mark=f"m{number}", per_hour=1_000_000)
    request = TaskRequest("look", ANNA, Origin(HERE, f"{worker}:{number}"), trigger=trigger)
    try:
        await repository(store).accept(request)
    except StoreConflict:
        return False
    return True


async def request(store: Store, _: int, number: int) -> bool:
    return await store.api_requests.begin("anna", f"key{number}", "digest") is None


async def next_number(store: Store, _: int, number: int) -> bool:
    """Each takes the number behind the last one, so that all are in the way of all."""

    async def work(transaction: Transaction) -> bool:
        known = "SELECT 1 FROM refusals WHERE kind = %(kind)s"
        if await transaction.fetch(known, {"kind": str(number)}):
            return False
        add = """INSERT INTO refusals (platform, kind, day, count)
            SELECT 'key', %(kind)s, '', coalesce(max(count), 0) + 1 FROM refusals"""
        await transaction.fetch(add, {"kind": str(number)})
        return True

    return await store.write(work)


KINDS = {
    "leases": Kind(nothing, lease, "SELECT count(*) FROM leases"),
    "journal": Kind(hold, action, "SELECT count(*) FROM actions WHERE state = 'begun'"),
    "outbox": Kind(messages, message, "SELECT count(*) FROM outbox WHERE state = 'sending' AND attempts = 1"),
    "schedules": Kind(plans, run, "SELECT count(*) FROM tasks WHERE (SELECT min(due) FROM schedules) = 3602"),
    "notifications": Kind(
        plans, notification, "SELECT least(count(*), (SELECT count(*) FROM tasks)) FROM trigger_marks"
    ),
    "idempotency keys": Kind(nothing, request, "SELECT count(*) FROM api_requests"),
    "next numbers": Kind(nothing, next_number, "SELECT count(DISTINCT count) FROM refusals"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    made = PostgresServer()
    yield made
    made.remove()


@pytest.fixture
async def workers(server: PostgresServer, tmp_path: Path) -> AsyncIterator[list[Store]]:
    run_on(server.url, "CREATE DATABASE record")
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(WORKERS):
            opened.append(await Store.open(tmp_path, url=f"{server.url}/record", clock=lambda: 1_000.0))
            stack.push_async_callback(opened[-1].close)
        yield opened
    run_on(server.url, "DROP DATABASE record WITH (FORCE)")


@pytest.mark.parametrize("name", KINDS)
async def test_eight_workers_claim_everything_once(server: PostgresServer, workers: list[Store], name: str) -> None:
    """Where a connection is lost at a COMMIT, its worker does not know whether it has claimed that one."""
    kind = KINDS[name]
    await kind.prepare(workers[0])
    claimed: list[int] = []
    unknown: set[int] = set()
    cuts = 0

    async def claims(store: Store, worker: int, number: int) -> bool:
        while True:
            try:
                return await kind.claim(store, worker, number)
            except StoreUnsure:
                break
            except StoreAway:
                pass  # its new connection was cut as well, before anything was claimed
            except StoreError:
                break
        unknown.add(number)
        return False

    async def works(store: Store, worker: int) -> None:
        nonlocal cuts
        for number in NUMBERS:
            claimed.extend([number] * await claims(store, worker, number))
            if worker == 0 and number % max(1, len(NUMBERS) // CUTS) == 0:
                cuts += 1
                await asyncio.to_thread(
                    run_on,
                    server.url,
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'record' AND pid % 3 = 0",
                )

    await asyncio.gather(*(works(store, worker) for worker, store in enumerate(workers)))
    assert cuts
    assert len(claimed) == len(set(claimed)), "claimed twice"
    assert {*claimed, *unknown} == {*NUMBERS}
    assert rows_of(f"{server.url}/record", kind.rows) == [(len(NUMBERS),)]
