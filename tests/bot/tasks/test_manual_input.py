"""A phone touched by hand: once, by the rules, and never while a task works there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent import actions as act
from agent.guards.policy import Policy
from agent.ports.leases import Lease
from agent.run import RunId
from bot.store.store import Store
from bot.tasks.leases import PhoneLeases
from bot.tasks.manual_input import ManualInput, ManualInputError, NeedsApproval
from devices.geometry import Bounds
from devices.inputs import Key, PressKey, Tap, TypeText
from devices.phone import Element, Observation
from tests.fakes.instant_phone import SIZE, InstantPhone
from tests.fixtures.databases import open_store

LINE = Element(Bounds(0, 0, 1080, 100), text="Bluetooth", clickable=True)
PAY = Element(Bounds(0, 200, 1080, 300), text="Pay now", clickable=True)
CODE = Element(Bounds(0, 400, 1080, 500), text="", password=True, editable=True, focused=True)


class TouchedPhone(InstantPhone):
    """Shows a page with a line, a button that pays and a field for a password."""

    def page(self) -> Observation:
        return Observation(SIZE, None, (LINE, PAY, CODE), package="org.example", activity="Page")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path)
    yield opened
    await opened.close()


def by_hand(store: Store, phone: TouchedPhone) -> tuple[ManualInput, PhoneLeases]:
    leases = PhoneLeases(store.leases, phone)
    return ManualInput(leases, phone, Policy.default(), store.journal), leases


def tap(y: int) -> act.Tap:
    return act.Tap(target=act.PointTarget(x=500, y=y))


async def test_what_the_rules_allow_is_done_once(store: Store) -> None:
    """Seen failing without the journal: a request that came twice touched twice."""
    phone = TouchedPhone()
    operating, _ = by_hand(store, phone)
    met = await operating.touch("instant", tap(50), "one")
    assert (met.app, met.target) == ("org.example", "Bluetooth")
    with pytest.raises(ManualInputError, match="may have been done"):
        await operating.touch("instant", tap(50), "one")
    await operating.touch("instant", act.PressKey(key=Key.HOME), "two")
    assert [type(one) for one in phone.sent] == [Tap, PressKey]


async def test_what_the_rules_ask_about_needs_a_yes_to_just_that(store: Store) -> None:
    """Seen failing with any `allowed` taken for a yes."""
    phone = TouchedPhone()
    operating, _ = by_hand(store, phone)
    with pytest.raises(NeedsApproval, match="Pay now") as asked:
        await operating.touch("instant", tap(250), "one")
    for wrong in ("", "yes", asked.value.approval_key[:-1]):
        with pytest.raises(NeedsApproval):
            await operating.touch("instant", tap(250), "two", allowed=wrong)
    with pytest.raises(NeedsApproval):
        await operating.touch("instant", beside(250), "three", allowed=asked.value.approval_key)
    assert phone.sent == []
    await operating.touch("instant", tap(250), "four", allowed=asked.value.approval_key)
    assert len(phone.sent) == 1


def beside(y: int) -> act.Tap:
    return act.Tap(target=act.PointTarget(x=501, y=y))


async def test_a_task_at_work_keeps_its_phone(store: Store) -> None:
    """Seen failing without the lease."""
    phone = TouchedPhone()
    operating, leases = by_hand(store, phone)
    held = [found async for found in leases.acquire(RunId("7"), "instant") if isinstance(found, Lease)]
    assert held
    with pytest.raises(ManualInputError, match="A task is working"):
        await operating.touch("instant", tap(50), "one")
    await leases.release(RunId("7"))
    await operating.touch("instant", tap(50), "two")
    assert len(phone.sent) == 1


async def test_what_goes_into_a_field_for_a_password_is_kept_nowhere(store: Store, tmp_path: Path) -> None:
    """Seen failing with the action written down as it came."""
    phone = TouchedPhone()
    operating, _ = by_hand(store, phone)
    await operating.touch("instant", act.Type(text="hunter2hunter2"), "one")
    (typed,) = phone.sent
    assert isinstance(typed, TypeText)
    assert typed.secret
    kept = b"".join(file.read_bytes() for file in list(tmp_path.glob("opengui.sqlite3*")))  # noqa: ASYNC240 - small
    assert b"hunter2" not in kept
