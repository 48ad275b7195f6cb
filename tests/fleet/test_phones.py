"""The phones of a host in the pool: the same phone wherever it is attached, with its name and its host."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agent.run import RunId
from bot.tasks.manual_input import acquire_lease
from bot.views.tasks import phone_json
from devices.errors import InputRejected, NameTaken, PhoneGone, ScreenChanged
from devices.inputs import Key, OpenApp, PressKey, Tap
from devices.phone import Health
from tests.agent.graph.test_still_there import judged
from tests.fakes.scripted_model import models
from tests.fixtures.databases import open_store
from tests.fleet.rig import LIMIT, STEADY, FleetRig, fleet_rig


async def test_they_are_listed_looked_at_named_and_gone_with_their_host(hasty: FleetRig) -> None:
    machine = await hasty.add_host("shelf", models([])[0])
    found = await hasty.there()
    (info,) = hasty.pool.list()
    assert (info.host, phone_json(info, ())["host"]) == ("shelf", "shelf")
    seen = await hasty.pool.get(found).observe()
    assert seen.image is not None
    assert seen.image.size == (seen.size.width, seen.size.height)
    assert seen.elements
    assert await hasty.pool.get(found).confirmed(seen) is not None
    told = asyncio.ensure_future(hasty.pool.wait_for_change())
    await asyncio.sleep(0)
    assert (await hasty.pool.rename(found, "Desk")).name == "Desk"
    await asyncio.wait_for(told, 5)
    with pytest.raises(InputRejected):
        await hasty.pool.get(found).act(PressKey(Key.HOME), receipt="1-1.1.1.1")
    assert machine.inputs() == [], "nobody holds the phone"
    await machine.cable.cut()
    await hasty.until(lambda: hasty.pool.list()[0].health is Health.OFFLINE)
    with pytest.raises(PhoneGone):
        hasty.pool.get(found)
    await machine.cable.mend()
    assert (await hasty.pool.wait_for(found, timeout=20)).info.name == "Desk"


async def test_a_touch_that_was_judged_before_the_hub_started_is_not_sent_to_another_screen(fleet: FleetRig) -> None:
    """Seen failing (it is sent) when only a phone that was looked at since then is looked at again."""
    machine = await fleet.add_host("shelf", models([])[0])
    phone = await fleet.there()
    await acquire_lease(fleet.leases, RunId("hand-1"), phone)
    seen = await fleet.pool.get(phone).observe()
    target = next(each for each in seen.elements or () if each.clickable and each.label)
    before, here = judged(target), Tap(target.bounds.centre)
    assert before is not None
    await fleet.pool.get(phone).act(OpenApp("Notes"), receipt="1-1.1.1.1")
    await fleet.stop_hub()
    await fleet.start_hub()
    assert await fleet.there() == phone
    await acquire_lease(fleet.leases, RunId("hand-2"), phone)
    sent = machine.inputs()
    with pytest.raises(ScreenChanged):
        await fleet.pool.get(phone).act(here, receipt="1-1.1.1.2", judged=before)
    assert machine.inputs() == sent


async def test_a_phone_that_is_moved_to_another_host_keeps_its_id_and_name(hasty: FleetRig) -> None:
    first = await hasty.add_host("shelf", models([])[0])
    second = await hasty.add_host("desk", models([])[0])
    moved, other = await hasty.there("shelf"), await hasty.there("desk")
    await hasty.pool.rename(moved, "Mine")
    with pytest.raises(NameTaken):
        await hasty.pool.rename(other, "mine")
    await first.stop()
    await second.stop()
    second.phone = first.phone
    await second.start()
    await hasty.until(lambda: hasty.hub.owners.conflicts and not hasty.hub.hosts.usable("shelf"))
    (waiting,) = [info for info in hasty.pool.list() if info.id == moved]
    assert (waiting.host, waiting.name, waiting.health) == ("shelf", "Mine", Health.OFFLINE)
    assert "desk has one with the same id" in waiting.reason
    await hasty.hub.move_phone(moved, "desk")
    assert any((info.id, info.host) == (moved, "desk") for info in hasty.pool.list())
    assert [info.name for info in hasty.pool.list() if info.id == moved] == ["Mine"]
    with pytest.raises(PhoneGone):
        hasty.pool.get("nobody")


async def test_a_fault_in_one_part_of_the_hub_does_not_end_its_beat(
    hasty: FleetRig, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen failing: the beat ended without a word, and no host was heard or given work until the next start."""
    machine = await hasty.add_host("shelf", models([])[0])
    await hasty.there()
    faulty = [True]

    def listener() -> None:
        if faulty:
            raise RuntimeError("this part is faulty")

    hasty.hub.on_change(listener)
    await machine.cable.cut()
    await hasty.until(lambda: "fleet beat met a fault" in caplog.text)
    faulty.clear()
    await machine.cable.mend()
    await hasty.until(lambda: hasty.hub.hosts.usable("shelf"))
    before = hasty.hub._number
    await hasty.until(lambda: hasty.hub._number > before + 4)
    assert not [task for task in hasty.hub._tasks if task.done()]


async def test_a_blocked_host_is_not_waited_for_when_the_hub_starts(
    real_world: None,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    """Seen failing: it never reports, so that every start waited until it counted as away."""
    async with fleet_rig(tmp_path, "fake", replace(STEADY, away=10 * LIMIT)) as fleet:
        await fleet.add_host("shelf", models([])[0])
        await fleet.there()
        await fleet.stop_hub()
        store = await open_store(tmp_path / "hub")
        await store.fleet.block("shelf", now=1.0)
        await store.close()
        async with asyncio.timeout(LIMIT):
            await fleet.start_hub()
        assert not fleet.hub.hosts.awaited
        assert fleet.hub.hosts["shelf"].blocked
