"""skills, skill: what there is, and a task that follows one."""

from __future__ import annotations

from tests.bot.commands.test_overview import words
from tests.bot.world import World


async def test_the_skills_are_listed(world: World) -> None:
    told = words(await world.type("skills"))
    assert "clear-notifications: How to go through" in told
    assert "compare-prices: " in told


async def test_a_skill_becomes_a_task_with_what_stands_behind_it(world: World) -> None:
    reply = await world.type("skill compare-prices thing=kettle city=Leeds")
    task = await world.task_service.get(reply.task)
    assert task is not None
    assert task.text == "Follow the skill compare-prices with thing=kettle city=Leeds"
    assert (task.skill, task.arguments) == ("compare-prices", {"thing": "kettle", "city": "Leeds"})
    task = await world.task_service.get((await world.type("skill Compare-Prices")).task)
    assert task is not None
    assert task.text == "Follow the skill compare-prices."


async def test_an_unknown_skill_begins_nothing(world: World) -> None:
    reply = await world.type("skill juggle")
    assert 'There is no skill "juggle", so nothing was begun. There are: clear-notifications' in words(reply)
    assert not reply.task
