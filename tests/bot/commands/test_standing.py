"""The standing yes of a schedule: given by whoever may approve, shown, audited, handed to its runs, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.questions import StandingYes
from bot.domain.address import Person
from bot.domain.right import Grant, Right
from bot.people.subjects import Subject
from bot.store.audit import AuditKind, YesDetail
from tests.bot.commands.test_overview import words
from tests.bot.commands.test_scheduling import data, labels
from tests.bot.schedules.rig import HOUR, a_rig
from tests.bot.world import ADA, ANNA, BEN, World

LINE = 'schedule --allow-to Bob --allow-text "Good morning" every 1h do send Bob "Good morning" in Messages'
GUEST = Person("discord", "50", "Guest")


async def audited(world: World) -> list[tuple[AuditKind, str, YesDetail]]:
    entries = await world.store.audit.page(20)
    return [(each.kind, each.person.id, each.detail) for each in entries if isinstance(each.detail, YesDetail)]


async def test_it_is_kept_shown_and_audited(world: World) -> None:
    made = await world.type(LINE)
    assert 'No question for Bob: "Good morning" (standing yes of Anna)' in words(made)
    (kept,) = await world.store.schedules.all()
    assert kept.plan.standing == StandingYes(to="Bob", text="Good morning", by="Anna", schedule=kept.id)
    assert 'No question for Bob: "Good morning"' in words(await world.type("schedules"))
    detail = YesDetail(to="Bob", by="Anna", text="Good morning", schedule=kept.id)
    assert await audited(world) == [(AuditKind.ALLOWED_AHEAD, ANNA.id, detail)]
    assert 'Bob (schedule 1, by Anna): "Good morning"' in words(await world.type("audit", ADA))


async def test_it_is_taken_back_by_word_and_by_button(world: World) -> None:
    made = await world.type(LINE)
    assert labels(made) == ["Pause 1", "Take back the yes of 1", "Remove 1"]
    assert "no schedule" in (await world.press(data(made, "Take back the yes of 1"), BEN)).toast
    assert "taken back" in (await world.press(data(made, "Take back the yes of 1"))).toast
    (kept,) = await world.store.schedules.all()
    assert kept.plan.standing is None
    assert [kind for kind, _, _ in await audited(world)] == [AuditKind.REVOKED, AuditKind.ALLOWED_AHEAD]
    assert "has no standing yes" in words(await world.type("schedules revoke 1"))
    await world.type(LINE)
    assert "taken back" in words(await world.type("schedule revoke 2"))


@pytest.mark.parametrize("half", ["--allow-to Bob", '--allow-text "Good morning"', "--allow-in Messages"])
async def test_half_a_yes_is_none(world: World, half: str) -> None:
    assert "one recipient and one exact text" in words(await world.type(f"schedule {half} every 1h do look"))
    assert await world.store.schedules.all() == ()


async def test_only_who_may_approve_gives_one(world: World) -> None:
    await world.rights.allow(Grant("discord", GUEST.id, Right.USE), ADA)
    assert "Next" in words(await world.type("schedule every 1h do look", GUEST))
    assert "Next" not in words(await world.type(LINE, GUEST))
    assert len(await world.store.schedules.all()) == 1
    await world.rights.allow(Grant("discord", GUEST.id, Right.APPROVE), ADA)
    assert "Next" in words(await world.type(LINE, GUEST))


async def test_a_run_has_it_as_long_as_its_person_may_approve(tmp_path: Path) -> None:
    async with a_rig(tmp_path) as rig:
        await rig.world.rights.allow(Grant("discord", GUEST.id, Right.APPROVE), ADA)
        made = await rig.plan(LINE.removeprefix("schedule "), GUEST)
        (first,) = await rig.after(HOUR)
        assert first.request.standing == (made.plan.standing,)
        await rig.world.task_service.cancel(first.id, GUEST)
        await rig.world.rights.deny(Subject("discord", GUEST.id), ADA)
        await rig.world.rights.allow(Grant("discord", GUEST.id, Right.USE), ADA)
        *_, second = await rig.after(HOUR)
        assert second.id != first.id
        assert second.request.standing == ()


async def test_a_task_that_is_typed_has_none(world: World) -> None:
    reply = await world.type("do send Bob good morning")
    task = await world.task_service.get(reply.task)
    assert task is not None
    assert task.request.standing == ()
    assert "no option" in words(await world.type("do --allow-to Bob --allow-text x send Bob x"))


async def test_list_is_a_word_of_schedule_too(world: World) -> None:
    """Seen failing before: "Write when and what"."""
    assert "No schedules" in words(await world.type("schedule list"))
    await world.type("schedule every 1h do look at the weather")
    assert "look at the weather" in words(await world.type("schedule list"))
    assert words(await world.type("schedules list")) == words(await world.type("schedule list"))
    assert "is paused" in words(await world.type("schedule pause 1"))
