"""A person gets no phone that they may not use, however long they waited for one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent.ports.leases import Lease, Place
from agent.run import RunId
from bot.application.phones import wished
from bot.domain.address import Address, Person
from bot.domain.address import Place as ChatPlace
from bot.domain.right import Grant, Right, TierGift
from bot.domain.task import Task
from bot.domain.task_request import Entitlement
from bot.people.access import Policy
from bot.store.store import Store
from bot.tasks.leases import PhoneLeases
from bot.tasks.queue import (
    AGAIN_S,
    FRESH_S,
    Admission,
    Certainty,
    NotAdmitted,
    Waiter,
    assign_phones,
    unservable_reason,
)
from tests.bot.records import a_task
from tests.bot.tasks.bench import PATIENCE, Clock, StillPhones, phone
from tests.fixtures.databases import open_store

CHAN = Address("discord", "bot", "chan", "guild")
EVE = Person("discord", "666", "Eve")


def of_eve(entitled: Entitlement | None, number: str = "1") -> Task:
    return a_task(id=number, person=EVE, origin=CHAN, entitled=entitled)


def grant(name: str = "", right: Right = Right.USE) -> Grant:
    return Grant("discord", "666", right, phone=name)


class WindowManager:
    """Leases that ask, and rights that the test changes."""

    def __init__(self, store: Store, *names: str) -> None:
        self.clock = Clock()
        self.places: list[tuple[str, int]] = []
        self.notes: list[tuple[str, str]] = []
        self.policy = Policy(grants=(grant("a"), grant("b")))
        self.admission = Admission(lambda: self.policy, self.clock)
        self.phones = StillPhones(*(phone(name) for name in names))
        self.leases = PhoneLeases(
            store.leases, self.phones, self.clock, self.admission.admits, self.admission.certainty
        )

    async def lease(self, task: Task, wish: str = "") -> Lease:
        """The lease, however long it takes."""
        queue = self.leases.acquire(RunId(task.id), wish)
        async with asyncio.timeout(PATIENCE):
            async for item in queue:
                if isinstance(item, Lease):
                    return item
                assert isinstance(item, Place)
                self.places.append((task.id, item.number))
        raise AssertionError("the queue ended without a lease")


async def test_any_free_phone_is_one_of_theirs(tmp_path: Path) -> None:
    """Seen failing (c is given) with `admits` taken out of `granted`."""
    store = await open_store(tmp_path)
    task_service = WindowManager(store, "c", "b")
    task = of_eve(Entitlement(("a", "b")))
    task_service.admission.begin(task)
    assert (await task_service.lease(task)).phone == "b"
    second = of_eve(Entitlement(("a", "b")), "2")
    task_service.admission.begin(second)
    waiting = asyncio.create_task(task_service.lease(second))
    await asyncio.sleep(0)
    assert not waiting.done()
    await task_service.leases.release(RunId(task.id))
    assert (await waiting).phone == "b"
    await store.close()


async def test_a_right_that_is_taken_while_one_waits_ends_the_waiting_at_once(tmp_path: Path) -> None:
    store = await open_store(tmp_path)
    task_service = WindowManager(store, "a")
    first, second = of_eve(None, "1"), of_eve(Entitlement(("a",)), "2")
    task_service.admission.begin(first)
    task_service.admission.begin(second)
    await task_service.lease(first, "a")
    waiting = asyncio.create_task(task_service.lease(second, "a"))
    while not await store.leases.ticket(RunId("2"), first=False):
        await asyncio.sleep(0)
    task_service.policy = Policy()
    await task_service.leases.heartbeat()
    with pytest.raises(NotAdmitted, match="may no longer use the phone A"):
        await waiting
    with pytest.raises(NotAdmitted):
        await task_service.lease(of_eve(Entitlement(("a",)), "2"), "a")
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
        run = RunId(task.id)
        assert {name for name in ("a", "b") if admission.admits(run, name)} == phones
        admission.end(task)
        assert admission.admits(run, "anything")


def test_why_nothing_can_serve_it() -> None:
    phones = [phone("a"), phone("b")]
    assert unservable_reason("", phones, ()) is None
    assert unservable_reason("", phones, (), lambda name: name == "b") is None
    assert isinstance(unservable_reason("a", phones, (), lambda name: name == "b"), NotAdmitted)
    assert isinstance(unservable_reason("", phones, ("a",), lambda _: False), NotAdmitted)
    nobody = unservable_reason("", [], (), lambda _: False)
    assert nobody is not None
    assert not isinstance(nobody, NotAdmitted)
    waiters = [Waiter(RunId("1"), "", 1, lambda name: name == "b"), Waiter(RunId("2"), "", 2)]
    assert [(one.run, name) for one, name in assign_phones(waiters, phones, ())] == [
        (RunId("1"), "b"),
        (RunId("2"), "a"),
    ]


def test_names_tell_phones_apart() -> None:
    assert [one.name for one in wished([phone("a"), phone("b")])] == ["A", "B"]


GUEST = Grant("discord", "7", Right.USE, guild="guild")
"""For everybody with a role of that server."""


class Platform:
    """Tells roles when the test says so."""

    def __init__(self) -> None:
        self.roles: frozenset[str] | Exception | None = None
        """None: it does not tell."""
        self.asked = 0
        self.may_tell = asyncio.Event()

    async def __call__(self, person: Person, place: ChatPlace) -> Person | None:
        assert (person, place.address) == (EVE, CHAN)
        self.asked += 1
        await asyncio.wait_for(self.may_tell.wait(), PATIENCE)
        if isinstance(self.roles, Exception):
            raise self.roles
        return None if self.roles is None else replace(person, roles=self.roles)


@asynccontextmanager
async def by_role(tmp_path: Path, *names: str) -> AsyncIterator[tuple[WindowManager, Platform]]:
    store = await open_store(tmp_path)
    task_service, platform = WindowManager(store, *names), Platform()
    task_service.policy = Policy(grants=(GUEST,))

    async def unheard(_task: Task, _person: Person) -> None:
        pass

    task_service.admission.set_role_lookup(
        platform, lambda task, text: task_service.notes.append((task, text)), unheard
    )
    yield task_service, platform
    await store.close()


async def until(said: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not said():
            await asyncio.sleep(0)


async def test_a_phone_is_given_on_a_role_that_is_still_held_and_kept_while_it_is_asked_for(tmp_path: Path) -> None:
    """Seen failing (the phone goes to the second) with the phone not taken out of `free` while somebody is asked."""
    async with by_role(tmp_path, "a") as (task_service, platform):
        first, second = of_eve(Entitlement(by_role=True), "1"), of_eve(None, "2")
        task_service.admission.begin(first)
        task_service.admission.begin(second)
        waiting = asyncio.create_task(task_service.lease(first))
        await until(lambda: platform.asked == 1)
        after = asyncio.create_task(task_service.lease(second))
        await until(lambda: after.done() or ("2", 2) in task_service.places)
        await task_service.leases.heartbeat()
        assert not waiting.done()
        assert not after.done()
        platform.roles = frozenset({"guild/7"})
        platform.may_tell.set()
        assert (await waiting).phone == "a"
        assert platform.asked == 1
        assert not after.done()
        await task_service.leases.release(RunId("1"))
        assert (await after).phone == "a"


async def test_nobody_gets_a_phone_by_a_role_that_was_taken_while_they_waited(tmp_path: Path) -> None:
    """Seen failing (the phone is given) with `standing` always sure."""
    async with by_role(tmp_path, "a") as (task_service, platform):
        platform.may_tell.set()
        platform.roles = frozenset({"guild/8"})
        task = of_eve(Entitlement(by_role=True))
        task_service.admission.begin(task)
        with pytest.raises(NotAdmitted):
            await task_service.lease(task)


@pytest.mark.parametrize("trouble", [None, RuntimeError("what nobody expected")])
async def test_while_nobody_tells_the_task_waits_and_says_so_and_others_go_first(
    tmp_path: Path, trouble: Exception | None
) -> None:
    """Seen failing (the phone is given) with SURE for UNKNOWN in `standing`."""
    async with by_role(tmp_path, "a") as (task_service, platform):
        platform.may_tell.set()
        platform.roles = trouble
        first, second = of_eve(Entitlement(by_role=True), "1"), of_eve(None, "2")
        task_service.admission.begin(first)
        task_service.admission.begin(second)
        waiting = asyncio.create_task(task_service.lease(first))
        await until(lambda: bool(task_service.notes))
        assert "The task waits" in task_service.notes[0][1]
        assert (await task_service.lease(second)).phone == "a", "nobody else waits for the platform"
        await task_service.leases.release(RunId("2"))
        platform.roles = frozenset({"guild/7"})
        await task_service.leases.heartbeat()
        assert not waiting.done()
        assert platform.asked == 1, "it is not asked all the time"
        task_service.clock.now += AGAIN_S
        await task_service.leases.heartbeat()
        assert (await waiting).phone == "a"
        assert len(task_service.notes) == 1


async def test_roles_are_asked_for_again_when_what_was_told_is_old(tmp_path: Path) -> None:
    async with by_role(tmp_path, "a") as (task_service, platform):
        platform.may_tell.set()
        platform.roles = frozenset({"guild/7"})
        task = of_eve(Entitlement(by_role=True))
        task_service.admission.begin(task)
        await task_service.lease(task)
        await task_service.leases.release(RunId(task.id))
        task_service.clock.now += FRESH_S
        platform.roles = frozenset()
        with pytest.raises(NotAdmitted):
            await task_service.lease(task)
        assert platform.asked == 2


async def test_before_anybody_can_be_asked_such_a_task_waits_and_its_end_ends_the_asking(tmp_path: Path) -> None:
    async with by_role(tmp_path, "a") as (task_service, platform):
        task = of_eve(Entitlement(by_role=True))
        early = Admission(lambda: task_service.policy)
        early.begin(task)
        assert early.certainty(RunId(task.id), lambda: None) is Certainty.UNKNOWN
        task_service.admission.begin(task)
        waiting = asyncio.create_task(task_service.lease(task))
        await until(lambda: platform.asked == 1)
        waiting.cancel()
        task_service.admission.end(task)
        await asyncio.wait({waiting})
        assert waiting.cancelled()
        assert task_service.notes == []


BY_TIER = Policy(grants=(grant(),), tiers=(TierGift("discord", "7", "big", guild="guild"),))
"""The right is the person's own; a role of the server has a tier."""


async def test_a_tier_that_hangs_on_roles_is_asked_for_before_the_phone_is_given(tmp_path: Path) -> None:
    """Seen failing (nobody is asked) without `tier_hangs_on_roles` in `standing`."""
    async with by_role(tmp_path, "a") as (task_service, platform):
        task_service.policy = BY_TIER
        heard: list[tuple[str, frozenset[str]]] = []

        async def hears(task: Task, person: Person) -> None:
            heard.append((task.id, person.roles))

        task_service.admission.set_role_lookup(
            platform, lambda task, text: task_service.notes.append((task, text)), hears
        )
        task = of_eve(Entitlement())
        task_service.admission.begin(task)
        waiting = asyncio.create_task(task_service.lease(task))
        await until(lambda: platform.asked == 1)
        assert not waiting.done()
        platform.roles = frozenset({"guild/7"})
        platform.may_tell.set()
        await waiting
        assert heard == [("1", frozenset({"guild/7"}))]


async def test_where_only_the_tier_hangs_on_roles_a_platform_that_does_not_tell_keeps_nobody_waiting(
    tmp_path: Path,
) -> None:
    async with by_role(tmp_path, "a") as (task_service, platform):
        task_service.policy = BY_TIER
        platform.may_tell.set()
        task = of_eve(Entitlement())
        task_service.admission.begin(task)
        assert (await task_service.lease(task)).phone == "a"
        assert platform.asked == 1
        assert task_service.notes == []


async def test_who_has_a_tier_of_their_own_is_not_asked_about(tmp_path: Path) -> None:
    async with by_role(tmp_path, "a") as (task_service, platform):
        task_service.policy = replace(BY_TIER, tiers=(*BY_TIER.tiers, TierGift("discord", EVE.id, "basic")))
        task = of_eve(Entitlement())
        task_service.admission.begin(task)
        assert (await task_service.lease(task)).phone == "a"
        assert platform.asked == 0
