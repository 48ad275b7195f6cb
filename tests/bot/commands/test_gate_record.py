"""`why 12`: what was asked, read and checked in a task, for whoever may see it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.effect_facts import AllowedAhead, DeniedBefore, Effect, LookedBefore, OtherWindow
from agent.questions import Question, QuestionKind
from bot.domain.outgoing import Reply
from bot.domain.task import StepRow, Task
from tests.bot.records import a_step
from tests.bot.world import ANNA, BEN, PRIVATE, World

READ = {"index": 0, "consequence": "sends", "object": "the cart to Mallory", "seconds": 1.25, "tokens": 55}


def words(reply: Reply) -> str:
    assert reply.message is not None
    return "\n".join((reply.message.heading, reply.message.body))


async def kept(world: World, task: Task, *steps: StepRow, question: Question | None = None) -> None:
    """These steps, and an approval that Anna has given."""
    for step in steps:
        await world.store.write(lambda t, row=step: world.store.steps.add(t, row))  # type: ignore[misc]  # one row a call
    if question is not None:
        await world.store.write(
            lambda t: world.store.questions.add(t, task.id, question, now=world.clock(), expires=world.clock() + 60)
        )
        assert await world.store.write(
            lambda t: world.store.questions.answer(t, question.id, "allow", by="Anna", now=world.clock() + 1)
        )


async def worked(world: World) -> Task:
    task = await world.working()
    now = world.clock()
    held = replace(
        a_step(task=task.id, run=f"{task.id}-1", step=1, at=now + 5, effect=(LookedBefore(milliseconds=240),)),
        action={"kind": "tap", "readings": [READ]},
    )
    other = OtherWindow(window="com.evil/com.evil.Main")
    swapped = a_step(task=task.id, run=f"{task.id}-1", step=2, at=now + 6, effect=(other,))
    question = Question(id=f"{task.id}-1.1.1.1", kind=QuestionKind.APPROVE, text="Send the cart?", consequence="send")
    plain = a_step(task=task.id, run=f"{task.id}-1", step=3, at=now + 7, summary="Went home")
    await kept(world, task, held, swapped, plain, question=question)
    return task


async def test_a_task_tells_what_was_asked_read_and_checked(world: World) -> None:
    task = await worked(world)
    told = words(await world.type(f"why {task.id}"))
    lines = told.splitlines()[1:]
    assert lines[0].startswith("Asked: Send the cart?")
    assert "Anna" in lines[0]
    assert "sends something – the cart to Mallory (55 tokens, 1.2 s)" in lines[1]
    assert "the screen was checked at most 240 ms before" in lines[2]
    assert "another window got the input: com.evil/com.evil.Main" in lines[3]
    assert "Went home" not in told
    assert words(await world.type(f"why --task {task.id}")) == told


async def test_it_is_told_in_the_language_that_is_spoken(world: World) -> None:
    task = await worked(world)
    told = words(await world.type(f"why #{task.id}", replace(ANNA, language="zh")))
    assert "操作前最多 240 毫秒核对过画面" in told
    assert "会发送内容：the cart to Mallory" in told


BEFORE: tuple[tuple[Effect, str, str], ...] = (
    (AllowedAhead(to="Bob", by="Anna"), "Anna allowed messages to Bob for this task", "Anna 已允许本任务"),
    (AllowedAhead(to="Bob", by="Anna", schedule="3"), "standing yes of Anna (schedule 3)", "Anna 已为定时任务 3"),
    (DeniedBefore(tries=2), "a person had denied the same before (try 2)", "之前已有人拒绝了同一操作（第 2 次尝试）"),
)


@pytest.mark.parametrize(("fact", "english", "chinese"), BEFORE, ids=lambda each: type(each).__name__)
async def test_what_was_allowed_or_denied_before_is_told(
    world: World, fact: Effect, english: str, chinese: str
) -> None:
    task = await world.working()
    await kept(world, task, a_step(task=task.id, run=f"{task.id}-1", step=1, at=world.clock() + 5, effect=(fact,)))
    assert english in words(await world.type(f"why {task.id}"))
    assert chinese in words(await world.type(f"why {task.id}", replace(ANNA, language="zh")))


async def test_a_task_without_any_says_so(world: World) -> None:
    task = await world.working()
    assert "Nothing in this task had to be allowed" in words(await world.type(f"why {task.id}"))


@pytest.mark.parametrize("line", ["why {task}", "why --task {task}"])
async def test_who_may_not_see_a_task_is_told_nothing_of_it(world: World, line: str) -> None:
    """Seen failing without `may_see`."""
    task = await worked(world)
    reply = await world.type(line.format(task=task.id), BEN, PRIVATE)
    assert "Mallory" not in words(reply)
