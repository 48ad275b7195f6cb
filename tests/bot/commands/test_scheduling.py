"""schedule and schedules: making plans, listing them within rights, and changing them by word and button."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.domain.address import Person, Place
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Reply
from bot.domain.right import Grant, Right
from bot.domain.schedule import plan_in
from bot.domain.task_request import TaskDraft, TaskOptions
from tests.bot.commands.test_overview import words
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, PRIVATE, World


def labels(reply: Reply) -> list[str]:
    assert reply.message is not None
    return [one.label for row in reply.message.buttons for one in row]


def data(reply: Reply, label: str) -> str:
    assert reply.message is not None
    return next(one.data for row in reply.message.buttons for one in row if one.label == label)


async def test_a_plan_is_read_back_with_its_next_time(world: World) -> None:
    reply = await world.type("schedule --zone Europe/Berlin every day 07:30 do open the weather app")
    assert words(reply).strip() == "Schedule 1: every day 07:30 (Europe/Berlin). Next: Tue 1970-01-13 07:30."
    assert labels(reply) == ["Pause 1", "Remove 1"]
    (kept,) = await world.store.schedules.all()
    assert (kept.plan.draft.text, kept.plan.person, kept.plan.place) == ("open the weather app", ANNA, CHANNEL)


async def test_options_stand_before_or_behind(world: World) -> None:
    await world.type("schedule --quick every 1h do --device Pixel look")
    typed = CommandCall("schedule", {"device": "pixel", "quick": "true"}, "every 1h do look")
    await world.invoke(typed)
    first, second = await world.store.schedules.all()
    assert first.plan.draft == second.plan.draft == TaskDraft("look", "pixel", TaskOptions(quick=True))


async def test_tomorrow_is_read_back_as_a_day(world: World) -> None:
    assert "at 1970-01-13 18:00 (UTC)" in words(await world.type("schedule at tomorrow 18:00 do look"))


async def test_a_task_may_say_do_again(world: World) -> None:
    await world.type('schedule cron "0 7 * * 1-5" do what I do every day')
    (kept,) = await world.store.schedules.all()
    assert kept.plan.draft.text == "what I do every day"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("schedule", "Write when and what"),
        ("schedule tomorrow open settings", "Write when and what"),
        ("schedule on monday do open settings", "Begin with at, every or cron"),
        ("schedule at teatime do open settings", "time as 18:00"),
        ("schedule at 1970-01-01 10:00 do open settings", "already passed"),
        ("schedule every 1s do open settings", "every 30m"),
        ('schedule cron "* *" do open settings', "five fields"),
        ("schedule --zone Mars/Olympus at 10:00 do open settings", 'no time zone "Mars/Olympus"'),
        ("schedule --device moon at 10:00 do open settings", "There is no phone called"),
        ("schedule at 10:00 do --fast open settings", "no option"),
        ("schedule at 10:00 do --quick", "The task is empty"),
    ],
)
async def test_what_cannot_be_planned_is_told(world: World, line: str, told: str) -> None:
    assert told in words(await world.type(line))
    assert await world.store.schedules.all() == ()


async def test_odd_local_times_are_told(world: World) -> None:
    world.clock.now = 1_774_000_000.0  # 2026-03-20
    skipped = words(await world.type("schedule --zone Europe/Berlin at 2026-03-29 02:30 do look"))
    assert "does not exist on that day" in skipped
    assert "it runs at Sun 2026-03-29 03:30" in skipped
    twice = words(await world.type("schedule --zone Europe/Berlin at 2026-10-25 02:30 do look"))
    assert "comes twice" in twice


async def test_the_same_command_makes_no_second(world: World) -> None:
    incoming = world.incoming("x", command="schedule every 1h do look")
    await world.commands.message(incoming)
    await world.commands.message(replace(incoming, place=Place(CHANNEL.address, private=False)))
    (kept,) = await world.store.schedules.all()
    assert await world.store.schedules.add(kept.plan, now=1.0, due=2.0) == kept


async def test_a_person_has_twenty(world: World) -> None:
    for _ in range(20):
        await world.type("schedule every 1h do look")
    assert "already have 20 schedules" in words(await world.type("schedule every 1h do look"))
    assert "Next" in words(await world.type("schedule every 1h do look", BEN))


async def test_a_right_from_a_role_is_not_enough(world: World) -> None:
    await world.rights.allow(Grant("discord", "7", Right.USE, guild="guild"), ADA)
    guest = Person("discord", "50", "Guest", roles=frozenset({"guild/7"}))
    assert "comes from a role" in words(await world.type("schedule every 1h do look", guest))
    await world.rights.allow(Grant("discord", "50", Right.USE), ADA)
    assert "Next" in words(await world.type("schedule every 1h do look", guest))


async def test_the_list_shows_ones_own_and_an_admin_all(world: World) -> None:
    assert "No schedules" in words(await world.type("schedules"))
    await world.type("schedule every 1h do look at the weather")
    await world.type("schedule at 23:59 do secret things", BEN, PRIVATE)
    mine = await world.type("schedules")
    assert "1 · every 1h · look at the weather\n  next Mon 1970-01-12 14:46 (UTC)" in words(mine)
    assert labels(mine) == ["Pause 1", "Remove 1"]
    assert "secret" not in words(await world.type("schedules", BEN))  # it was given in private
    assert "secret things" in words(await world.type("schedules", BEN, PRIVATE))
    assert "weather" in words(await world.type("schedules", ADA))
    assert "· Anna" in words(await world.type("schedules", ADA))


async def test_more_than_five_are_named(world: World) -> None:
    for number in range(1, 8):
        await world.type(f"schedule every {number}h do look")
    reply = await world.type("schedules")
    assert "… and 2 more" in words(reply)
    assert "6 (every 6h), 7 (every 7h)" in words(reply)
    assert len(labels(reply)) == 10


async def test_pause_resume_and_remove(world: World) -> None:
    made = await world.type("schedule every 1h do look")
    assert (await world.press(data(made, "Pause 1"))).toast == "Schedule 1 is paused."
    assert "paused" in words(await world.type("schedules"))
    world.clock.advance(3 * 3600.0 + 1.0)
    resume = data(await world.type("schedules"), "Resume 1")
    assert "Next: Mon 1970-01-12 17:46" in (await world.press(resume)).toast
    assert "is paused" in words(await world.type("schedules pause #1"))
    assert "is running again" in words(await world.type("schedules resume 1"))
    assert "was removed" in words(await world.type("schedules remove 1"))
    assert "no schedule" in (await world.press(data(made, "Remove 1"))).toast
    assert "Write !opengui schedules" in words(await world.type("schedules burn 1"))


async def test_one_whose_time_is_over_cannot_go_on(world: World) -> None:
    await world.type("schedule at 23:59 do look")
    await world.type("schedules pause 1")
    world.clock.advance(86_400.0)
    assert "no runs left" in words(await world.type("schedules resume 1"))


async def test_anothers_schedule_is_not_ones_own(world: World) -> None:
    made = await world.type("schedule every 1h do look")
    for label in ("Pause 1", "Remove 1"):
        assert "no schedule" in (await world.press(data(made, label), BEN)).toast
    assert "no schedule" in words(await world.type("schedules remove 1", BEN))
    assert "was removed" in words(await world.type("schedules remove 1", ADA))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("at tomorrow 09:30 do open settings", ("at tomorrow 09:30", "do open settings")),
        ("Every  5m \n do\nopen it and do it", ("Every  5m", "do\nopen it and do it")),
        ("每天早上8点 do open settings", ("每天早上8点", "do open settings")),
        ("at tomorrow", None),
        ("at tomorrow do", None),
        ("do open settings", None),
        ("at tomorrow dont do it", ("at tomorrow dont", "do it")),
    ],
)
def test_the_parts_of_a_plan(text: str, parts: tuple[str, str] | None) -> None:
    assert plan_in(text) == parts


@pytest.mark.parametrize("blank", [" ", "\n", " \t", " do", "do "])
def test_a_plan_of_blanks_holds_nobody_up(blank: str) -> None:
    """Seen failing with one pattern for all: four thousand blanks, which fit a message, took minutes."""
    began = time.process_time()
    plan_in(f"at {blank * 4000}x")
    assert time.process_time() - began < 1
