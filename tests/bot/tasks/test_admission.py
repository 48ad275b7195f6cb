"""A person gets no phone that they may not use, however long they waited for one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.graph.main.state import run_of
from agent.ports.leases import Lease, Place
from bot.access import Grant, Policy, Right
from bot.chats.base import Address, Person
from bot.commands.phones_meant import wished
from bot.store.store import Store
from bot.tasks.admission import Admission
from bot.tasks.leases import PhoneLeases
from bot.tasks.model import Entitlement, Task
from bot.tasks.queue import NotAdmitted, Waiter, granted, hopeless
from tests.bot.records import a_task
from tests.bot.tasks.bench import PATIENCE, Clock, StillPhones, phone

CHAN = Address("discord", "bot", "chan", "guild")
EVE = Person("discord", "666", "Eve")


def of_eve(entitled: Entitlement | None, number: str = "1") -> Task:
    return a_task(id=number, person=EVE, origin=CHAN, entitled=entitled)


def grant(name: str = "", right: Right = Right.USE) -> Grant:
    return Grant("discord", "666", right, phone=name)


class Desk:
    """Leases that ask, and rights that the test changes."""

    def __init__(self, store: Store, *names: str) -> None:
        self.policy = Policy(grants=(grant("a"), grant("b")))
        self.admission = Admission(lambda: self.policy)
        self.phones = StillPhones(*(phone(name) for name in names))
        self.leases = PhoneLeases(store.leases, self.phones, Clock(), self.admission.admits)

    async def lease(self, task: Task, wish: str = "") -> Lease:
        """The lease, however long it takes."""
        queue = self.leases.acquire(run_of(task.id), wish)
        async with asyncio.timeout(PATIENCE):
            async for item in queue:
                if isinstance(item, Lease):
                    return item
                assert isinstance(item, Place)
        raise AssertionError("the queue ended without a lease")


async def test_any_free_phone_is_one_of_theirs(tmp_path: Path) -> None:
    """Seen failing (c is given) with `admits` taken out of `granted`."""
    store = await Store.open(tmp_path)
    desk = Desk(store, "c", "b")
    task = of_eve(Entitlement(("a", "b")))
    desk.admission.begin(task)
    assert (await desk.lease(task)).phone == "b"
    second = of_eve(Entitlement(("a", "b")), "2")
    desk.admission.begin(second)
    waiting = asyncio.create_task(desk.lease(second))
    await asyncio.sleep(0)
    assert not waiting.done()
    await desk.leases.release(run_of(task.id))
    assert (await waiting).phone == "b"
    await store.close()


async def test_a_right_that_is_taken_while_one_waits_ends_the_waiting_at_once(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    desk = Desk(store, "a")
    first, second = of_eve(None, "1"), of_eve(Entitlement(("a",)), "2")
    desk.admission.begin(first)
    desk.admission.begin(second)
    await desk.lease(first, "a")
    waiting = asyncio.create_task(desk.lease(second, "a"))
    while not await store.leases.ticket(run_of("2"), first=False):
        await asyncio.sleep(0)
    desk.policy = Policy()
    await desk.leases.heartbeat()
    with pytest.raises(NotAdmitted, match="A may not be used any more"):
        await waiting
    with pytest.raises(NotAdmitted):
        await desk.lease(of_eve(Entitlement(("a",)), "2"), "a")
    await store.close()


def test_what_is_looked_at_again() -> None:
    policy = Policy(grants=(grant("a"),))
    admission = Admission(lambda: policy)
    for number, (entitled, phones) in enumerate(
        [
            (None, {"a", "b"}),
            (Entitlement(), {"a"}),
            (Entitlement(("b",)), set()),
            (Entitlement(("b",), by_role=True), {"b"}),
            (Entitlement(by_role=True), {"a", "b"}),
        ]
    ):
        task = of_eve(entitled, str(number))
        admission.begin(task)
        run = run_of(task.id)
        assert {name for name in ("a", "b") if admission.admits(run, name)} == phones
        admission.end(task)
        assert admission.admits(run, "anything")


def test_why_nothing_can_serve_it() -> None:
    phones = [phone("a"), phone("b")]
    assert hopeless("", phones, ()) is None
    assert hopeless("", phones, (), lambda name: name == "b") is None
    assert isinstance(hopeless("a", phones, (), lambda name: name == "b"), NotAdmitted)
    assert isinstance(hopeless("", phones, ("a",), lambda _: False), NotAdmitted)
    nobody = hopeless("", [], (), lambda _: False)
    assert nobody is not None
    assert not isinstance(nobody, NotAdmitted)
    waiters = [Waiter("r1", "", 1, lambda name: name == "b"), Waiter("r2", "", 2)]
    assert [(one.run, name) for one, name in granted(waiters, phones, ())] == [("r1", "b"), ("r2", "a")]


def test_names_tell_phones_apart() -> None:
    assert [one.name for one in wished([phone("a"), phone("b")])] == ["A", "B"]
