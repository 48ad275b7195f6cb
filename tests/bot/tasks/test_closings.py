"""When and why a question was closed: kept, told below the question, and in the audit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.events import Resumed
from agent.questions import QuestionKind, QuestionOrigin
from bot.cards.question import render_answered
from bot.domain.task import Closing, OpenQuestion, Task, TaskState
from tests.bot.world import ADA, World, a_world

PATIENCE_OF_APPROVALS = 15 * 60.0


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


async def audited(world: World) -> list[tuple[str, str, str]]:
    return [(entry.kind, entry.person.id, str(entry.detail)) for entry in await world.store.audit.page(9)]


async def shown(world: World, task: Task, question: str) -> tuple[OpenQuestion, str]:
    found = await world.task_service.question(question)
    assert found is not None
    return found, render_answered(found, task).footer


async def test_an_answer_tells_after_how_long(world: World) -> None:
    task = await world.working()
    asked = await world.ask(task)
    world.clock.advance(42.0)
    await world.task_service.answer(asked.question.id, "the blue one", ADA)
    found, footer = await shown(world, task, asked.question.id)
    assert (found.closed, found.closing) == (world.clock.now, None)
    assert footer.startswith("Answered by Ada: the blue one\nClosed 42 s after it was asked.\n")


async def test_one_that_nobody_answered_in_time(world: World) -> None:
    task = await world.working()
    asked = await world.ask(task, QuestionKind.APPROVE)
    world.clock.advance(PATIENCE_OF_APPROVALS + 1.0)
    await world.task_service.expire()
    found, footer = await shown(world, task, asked.question.id)
    assert (found.closed, found.closing) == (world.clock.now, Closing.EXPIRED)
    assert footer.startswith("It was not answered in time.\nClosed 15 min 1 s after it was asked.\n")
    assert ("unanswered", task.person.id, "expired") in await audited(world)
    page = (await world.type("audit", ADA)).message
    assert page is not None
    assert "was asked · task 1 · It was not answered in time." in page.body


@pytest.mark.parametrize("cancelled", [True, False])
async def test_one_whose_task_has_ended(world: World, cancelled: bool) -> None:
    task = await world.working()
    asked = await world.ask(task)
    world.clock.advance(5.0)
    if cancelled:
        await world.task_service.cancel(task.id, ADA)
        await world.until(task, TaskState.ENDED)
    else:
        await world.end(task)
    found, footer = await shown(world, task, asked.question.id)
    assert found.closing is (Closing.CANCELLED if cancelled else Closing.ENDED)
    assert ("the task was cancelled" in footer) is cancelled
    assert "Closed 5 s after it was asked." in footer
    assert ("unanswered", task.person.id, "cancelled" if cancelled else "ended") in await audited(world)


async def test_one_that_nobody_will_answer(world: World) -> None:
    task = await world.working()
    asked = await world.ask(task)
    await world.task_service.give_up(asked.question.id)
    found, footer = await shown(world, task, asked.question.id)
    assert found.closing is Closing.GIVEN_UP
    assert footer.startswith("No one was available to answer.\nClosed 0 s after it was asked.\n")
    assert ("unanswered", task.person.id, "given_up") in await audited(world)


async def test_a_task_that_goes_on_needs_no_answer(world: World) -> None:
    task = await world.working()
    asked = await world.ask(task)
    world.agent.tell(task.id, Resumed(question=asked.question.id))
    await world.until(task, TaskState.WORKING)
    found, footer = await shown(world, task, asked.question.id)
    assert found.closing is Closing.WENT_ON
    assert "the task has moved on" in footer
    await world.task_service.take_over(task.id, ADA)
    (hands,) = await world.task_service.open_questions(task=task.id)
    assert hands.question.origin is QuestionOrigin.TAKEOVER
    await world.task_service.resume(task.id, "", ADA)
    found, _ = await shown(world, task, hands.question.id)
    assert found.closing is Closing.WENT_ON
    assert "unanswered" not in {kind for kind, _, _ in await audited(world)}
