"""skills, skill, save: what there is, a task that follows one, and a run that is saved as one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.events import Started
from agent.outcome import Outcome
from agent.recorded_skills.step_record import Anchor, Landmark, PressVerdict, RecordedAction, StepRecord
from agent.run_id import RunId
from agent.skills import saving
from agent.skills.library import Skills
from bot.commands.request import Request
from bot.commands.skills import save
from bot.domain.incoming import CommandCall
from bot.domain.outgoing import Reply
from bot.domain.task import Task, TaskState
from bot.store.connection import Transaction
from tests.bot.commands.test_overview import words
from tests.bot.world import ADA, ANNA, BEN, CHANNEL, World, a_step_event
from tests.fakes.scripted_model import data, models


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


def anchor(words: str, **more: Any) -> Anchor:
    return Anchor(package="shop", role="TextView", words=words, **more)


VERDICTS = (PressVerdict(key="a1", consequence="none"),)


async def saved_task(world: World) -> Task:
    """A task that is done, and whose steps kept what they touched."""
    task = await world.working("Open Shop and put a Blue mug into the cart")
    actions = [
        RecordedAction(action={"kind": "open_app", "name": "Shop"}),
        RecordedAction(
            action={"kind": "tap", "sensitive": ""},
            package="shop",
            anchor=anchor("Blue mug"),
            touches=True,
            chosen=True,
        ),
        RecordedAction(action={"kind": "tap"}, package="shop", anchor=anchor("Add to cart"), touches=True),
        RecordedAction(
            action={"kind": "finish", "status": "success"}, package="shop", landmarks=(Landmark(words="Blue mug"),)
        ),
    ]
    for number, action in enumerate(actions, 1):
        step = a_step_event(task, number).model_copy(
            update={"record": StepRecord(actions=(action,), verdicts=VERDICTS[:number])}
        )
        world.agent.tell(task.id, step)
        await world.until(task, lambda found, number=number: found.steps >= number)  # type: ignore[misc]
    return await world.end(task)


async def test_a_task_is_saved_once_it_is_confirmed_and_done_again_with_other_values(world: World) -> None:
    task = await saved_task(world)
    shown = await world.type(f"save {task.id} as buy-mug")
    assert "{choice}: now “Blue mug”" in words(shown)
    assert "buy-mug" not in world.services.skills.found
    assert shown.message is not None
    (press,) = [one for row in shown.message.buttons for one in row]
    assert "shown to somebody else" in (await world.press(press.data, BEN)).toast
    assert "Saved as buy-mug, version 1" in words(await world.press(press.data))
    folder = world.services.skills.found["buy-mug"].folder
    assert (
        set(await world.store.skills.verdicts()) == set(await world.store.skills.verdicts("buy-mug")) == set(VERDICTS)
    )
    assert await world.store.skills.verdicts("another") == ()
    assert "consequence" not in (folder / "skill.json").read_text(), "a folder from elsewhere could say so, too"
    assert "2. Tap “{choice}”" in (folder / "SKILL.md").read_text()
    assert "has expired" in (await world.press(press.data)).toast

    reply = await world.type('skill buy-mug choice="Red mug"')
    again = await world.task_service.known(reply.task)
    assert (again.skill, again.arguments) == ("buy-mug", {"choice": "Red mug"})
    assert again.text == "Open Shop and put a Red mug into the cart"
    assert world.agent.orders[-1].arguments == {"choice": "Red mug"}
    assert "also needs choice" in words(await world.type("skill buy-mug"))
    assert "has no size" in words(await world.type("skill buy-mug choice=x size=1"))
    await world.until(again, TaskState.QUEUED)
    world.agent.tell(again.id, Started(run=RunId(again.id), phone="pixel", phone_name="Pixel"))
    await world.until(again, TaskState.WORKING)
    await world.end(again)
    assert "1 runs, 100% done" in words(await world.type("skills"))
    assert "proven" in words(await world.type("skills"))

    shown = await world.type(f"save {task.id} as buy-mug thing=Blue")
    await world.type(f"save --draft {shown.message.footer if shown.message else ''}")
    recorded = world.services.skills.found["buy-mug"].recorded
    assert recorded is not None
    assert (recorded.version, recorded.parameters[0].name) == (2, "thing")
    assert (folder / "versions" / "1.json").exists()

    await world.type("skills delete buy-mug", BEN)
    assert "buy-mug" in world.services.skills.found
    assert "is now called mugs" in words(await world.type("skills rename buy-mug mugs"))
    assert "was deleted" in words(await world.type("skills delete mugs"))
    assert not folder.exists()


async def test_the_reasoning_model_proposes_and_code_holds_it_to_the_steps(world: World) -> None:
    task = await saved_task(world)
    _, model = models([], plan=[data(parameters=[{"name": "thing", "value": "Tea"}])] * 2)
    world.services = replace(world.services, reasoning=lambda: model)
    assert "{choice}: now “Blue mug”" in words(await save_with(world, task))
    _, better = models([], plan=[data(parameters=[{"name": "colour", "value": "Blue", "about": "of the mug"}])])
    world.services = replace(world.services, reasoning=lambda: better)
    assert "put a {colour} mug into" in words(await save_with(world, task))


async def save_with(world: World, task: Task) -> Reply:
    """`save` with the world's services as they are now."""
    call = CommandCall("save", {}, f"{task.id} as mugs")
    return await save(Request(ANNA, CHANNEL, "event", call), world.services)


async def test_what_cannot_be_saved_is_told(world: World) -> None:
    task = await saved_task(world)
    assert "stands in no step" in words(await world.type(f"save {task.id} as buy size=huge"))
    assert "cannot be the name" in words(await world.type(f"save {task.id} as Büy"))
    assert "called compare-prices already" in words(await world.type(f"save {task.id} as compare-prices", ADA))
    assert "belongs to somebody else" in words(await world.type(f"save {task.id} as buy", BEN))
    failed = await world.working("open settings")
    await world.end(failed, Outcome.FAILED)
    assert "did not end as done" in words(await world.type(f"save {failed.id} as x"))

    async def former(transaction: Transaction) -> None:
        await transaction.fetch("UPDATE steps SET record = ''")

    await world.store.write(former)
    assert "done by a former version" in words(await world.type(f"save {task.id} as buy"))


async def test_three_takeovers_at_one_place_offer_a_new_version(world: World) -> None:
    shown = await world.type(f"save {(await saved_task(world)).id} as buy-mug")
    await world.type(f"save --draft {shown.message.footer if shown.message else ''}")
    for number in range(3):
        assert "A model had to help" not in words(await world.type("skills"))
        task = await world.task_service.known((await world.type('skill buy-mug choice="Red mug"')).task)
        world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
        await world.until(task, TaskState.WORKING)
        for step, followed in enumerate((0, None, 2), 1):
            record = StepRecord(actions=(RecordedAction(action={"kind": "tap"}),), followed=followed)
            world.agent.tell(task.id, a_step_event(task, step).model_copy(update={"record": record}))
            await world.until(task, lambda found, step=step: found.steps >= step)  # type: ignore[misc]
        await world.end(task)
        assert number < 2 or f"save {task.id} as buy-mug" in words(await world.type("skills"))
    assert "help at step 2 at least three times" in words(await world.type("skills"))


async def test_a_schedule_gives_a_skill(world: World) -> None:
    assert "every day 07:30" in words(await world.type("schedule every day 07:30 skill compare-prices thing=kettle"))
    (plan,) = [one.plan for one in await world.store.schedules.all()]
    assert plan.options["skill"] == "compare-prices"
    assert "kettle" in plan.options["arguments"]


async def test_a_folder_from_elsewhere_is_brought_in_with_the_same_checks(tmp_path: Path, world: World) -> None:
    await saved_task(world)
    shown = await world.type("save 1 as buy-mug")
    await world.type(f"save --draft {shown.message.footer if shown.message else ''}")
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(world.services.skills.found["buy-mug"].folder, elsewhere / "buy-mug")
    other = Skills(own=tmp_path / "own")
    assert saving.bring(other, elsewhere / "buy-mug") == "buy-mug"
    assert other.found["buy-mug"].recorded is not None
    data = json.loads((elsewhere / "buy-mug" / "skill.json").read_text())
    data["steps"][0]["action"] = {"kind": "tap", "target": {"x": 1, "y": 2}}
    (elsewhere / "buy-mug" / "skill.json").write_text(json.dumps(data))
    with pytest.raises(saving.NotChanged, match="cannot be done again"):
        saving.bring(Skills(own=tmp_path / "third"), elsewhere / "buy-mug")


async def test_an_unknown_skill_begins_nothing(world: World) -> None:
    reply = await world.type("skill juggle")
    assert 'There is no skill "juggle". Skills: clear-notifications' in words(reply)
    assert not reply.task
