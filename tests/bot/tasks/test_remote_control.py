"""A person takes over from the card: the task stands still, and goes on when they say that they are done."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.questions import QuestionKind
from agent.run import Outcome
from bot.cards.buttons import ButtonAction, button
from bot.domain.task import OpenQuestion, Task, TaskState, WrongState, locator
from tests.bot.world import ADA, ANNA, BEN, Clock, World, a_world

TAKE = "Take over"


async def taken(world: World, task: Task) -> OpenQuestion:
    await world.press(button(ButtonAction.TAKE, task.id, TAKE).data)
    (question,) = await world.task_service.open_questions(task=task.id)
    return question


def done(question: OpenQuestion) -> str:
    return button(ButtonAction.ANSWER, locator(question.question.id), "Done", choice="done").data


async def test_the_task_stands_still_and_goes_on_with_a_note(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        task = await world.working()
        question = await taken(world, task)
        assert question.question.kind is QuestionKind.TAKE_OVER
        assert "Anna" in question.question.text
        assert (await world.task_service.known(task.id)).state is TaskState.PAUSED
        assert ("pause", task.id) in world.agent.asked
        assert [row.kind for row in await world.store.outbox.of(task.id)] == ["question"]
        await world.press(button(ButtonAction.TAKE, task.id, TAKE).data)
        assert len(await world.task_service.open_questions(task=task.id)) == 1, "a second press asks nothing more"
        reply = await world.press(done(question))
        assert "Anna" in reply.toast
        assert (await world.task_service.known(task.id)).state is TaskState.WORKING
        (note,) = [note for verb, note in world.agent.asked if verb == f"resume {task.id}"]
        assert "Anna did something on the phone by hand" in note


async def test_only_who_asked_or_an_admin_takes_over_and_is_done(tmp_path: Path) -> None:
    """Must fail without `_held` in `work.take_over`: Ben paused the task of Anna."""
    async with a_world(tmp_path) as world:
        task = await world.working()
        refused = await world.press(button(ButtonAction.TAKE, task.id, TAKE).data, BEN)
        assert refused.toast
        assert await world.task_service.open_questions() == ()
        assert (await world.task_service.known(task.id)).state is TaskState.WORKING
        question = await taken(world, task)
        await world.press(done(question), BEN)
        assert (await world.task_service.known(task.id)).state is TaskState.PAUSED
        await world.press(done(question), ADA)
        assert (await world.task_service.known(task.id)).state is TaskState.WORKING


async def test_resume_needs_no_done(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        task = await world.working()
        question = await taken(world, task)
        await world.task_service.resume(task.id, "", ANNA)
        assert (await world.task_service.known(task.id)).state is TaskState.WORKING
        assert await world.task_service.open_questions() == ()
        late = await world.task_service.answer(question.question.id, "done", ANNA)
        assert not late.won


async def test_it_waits_through_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    async with a_world(tmp_path, clock=clock) as before:
        task = await before.working()
        question = await taken(before, task)
    async with a_world(tmp_path, clock=clock) as after:
        assert (await after.task_service.known(task.id)).state is TaskState.PAUSED
        await after.press(done(question))
        assert (await after.task_service.known(task.id)).state is TaskState.WORKING
        await after.step(task, 1)
        assert any("by hand" in note for verb, note in after.agent.asked if verb == f"steer {task.id}")


async def test_who_never_says_done_leaves_the_task_blocked(tmp_path: Path) -> None:
    """Must fail without the question's way through `Workers.deliver`: the task stood paused for ever."""
    async with a_world(tmp_path) as world:
        task = await world.working()
        await taken(world, task)
        world.clock.advance(24 * 3600.0 + 1)
        await world.task_service.expire()
        ended = await world.until(task, TaskState.ENDED)
        assert ended.outcome is Outcome.BLOCKED
        assert "took over" in ended.summary
        assert ("cancel", task.id) in world.agent.asked


async def test_what_does_not_work_cannot_be_taken_over(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        task = await world.working()
        await world.ask(task)
        with pytest.raises(WrongState):
            await world.task_service.take_over(task.id, ANNA)
        await world.task_service.cancel(task.id, ANNA)
        with pytest.raises(WrongState):
            await world.task_service.take_over(task.id, ANNA)
