"""Following a task that began before, that ends by itself, and one among very many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest

from agent.events import Asked, Started, TaskEnded, TaskEvent, Thinking, Told
from agent.ports.agent import TaskOrder
from agent.questions import Answer, Question, QuestionKind
from agent.run import Outcome, RunId
from bot.domain.task import BadText, TaskState, UnknownQuestion
from bot.domain.task_events import ToolCalled
from bot.domain.task_request import Origin, TaskRequest, WishedPhone
from bot.tasks.follow import TaskFollowers, line_of
from bot.tasks.repository import ServiceLimits
from tests.bot.tasks.bench import ANNA, HERE, LIMITS, PATIENCE, Bench, Gate, bench
from tests.bot.tasks.minds import ScriptedMind
from tests.fakes.echo import EchoMind


@contextmanager
def following(one: Bench) -> Iterator[TaskFollowers]:
    made = TaskFollowers(one.task_service, one.store.task_events)
    try:
        yield made
    finally:
        made.close()


async def all_of(followed: TaskFollowers, task: str) -> list[TaskEvent | ToolCalled]:
    async with asyncio.timeout(PATIENCE):
        return [heard.event async for heard in followed.events(task)]


async def test_who_comes_later_hears_it_from_the_beginning(tmp_path: Path) -> None:
    gate = Gate()
    async with bench(tmp_path, EchoMind(steps=2, before_step=gate)) as one:
        with following(one) as followed:
            task = await one.accept()
            gate.open(1)
            await one.until(task, lambda found: found.steps == 1)
            async with asyncio.timeout(PATIENCE), aclosing(followed.events(task.id)) as events:
                assert [(await anext(events)).event.type for _ in range(2)] == ["started", "step"]
                gate.open(1)
                assert [heard.event.type async for heard in events] == ["step", "final"]
            assert [event.type for event in await all_of(followed, task.id)] == ["started", "step", "step", "final"]


async def test_who_comes_after_the_end_hears_all_of_it(tmp_path: Path) -> None:
    async with bench(tmp_path, EchoMind(steps=1)) as one:
        task = await one.until(await one.accept("hello"), TaskState.ENDED)
        with following(one) as followed:
            *before, end = await all_of(followed, task.id)
            assert [event.type for event in before] == ["started", "step"]
            assert isinstance(end, TaskEnded)
            assert (end.outcome, end.summary, end.steps) == (Outcome.SUCCEEDED, "Echo: hello", 1)


@pytest.mark.usefixtures("virtual_time")
async def test_a_task_that_ends_without_its_mind_ends_here_too(tmp_path: Path) -> None:
    async def stubborn(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield Started(run=RunId("1"), phone="pixel", phone_name="Pixel")
        yield Thinking(node="plan_generator", text="hm")
        await asyncio.Event().wait()

    async with bench(tmp_path, ScriptedMind(stubborn)) as one:
        with following(one) as followed:
            task = await one.accept()
            heard = asyncio.create_task(all_of(followed, task.id))
            await one.until(task, TaskState.WORKING)
            await one.task_service.cancel(task.id, ANNA)
            events = await heard
            assert [event.type for event in events] == ["started", "final"]
            assert isinstance(events[-1], TaskEnded)
            assert events[-1].outcome is Outcome.CANCELLED


async def test_a_task_that_nobody_knows_has_no_events(tmp_path: Path) -> None:
    async with bench(tmp_path, EchoMind()) as one:
        with following(one) as followed:
            assert await all_of(followed, "999") == []


async def test_who_follows_is_not_asked_whether_somebody_else_is_done_by_hand(tmp_path: Path) -> None:
    """Seen failing when all questions of the log were told: a command line without answers gave this one up."""
    gate = Gate()
    async with bench(tmp_path, EchoMind(steps=1, before_step=gate)) as one:
        with following(one) as followed:
            task = await one.until(await one.accept(), TaskState.WORKING)
            await one.task_service.take_over(task.id, ANNA)
            (question,) = await one.task_service.open_questions(task=task.id)
            await one.task_service.answer(question.question.id, "done", ANNA)
            gate.open()
            events = await all_of(followed, task.id)
    assert [event.type for event in events] == ["started", "step", "final"]


@pytest.mark.parametrize("later", ["The model is waited for.", "", None])
async def test_what_a_task_waits_for_is_told_as_it_is_last(tmp_path: Path, later: str | None) -> None:
    """Seen failing when it was looked at before the log was read: the older one was told behind the later one."""
    gate = Gate()
    async with bench(tmp_path, EchoMind(steps=1, before_step=gate)) as one:
        with following(one) as followed:
            task = await one.until(await one.accept(), TaskState.WORKING)
            one.task_service.note(task.id, "The phone is waited for.")
            async with asyncio.timeout(PATIENCE), aclosing(followed.events(task.id)) as events:
                assert isinstance((await anext(events)).event, Started)
                if later is not None:
                    one.task_service.note(task.id, later)
                gate.open()
                if later is None:
                    await one.until(task, TaskState.ENDED)
                told = [heard.event.text async for heard in events if isinstance(heard.event, Told)]
    assert told == ([] if later is None else [later])


async def test_who_comes_later_hears_what_a_task_waits_for(tmp_path: Path) -> None:
    gate = Gate()
    async with bench(tmp_path, EchoMind(steps=1, before_step=gate)) as one:
        with following(one) as followed:
            task = await one.until(await one.accept(), TaskState.WORKING)
            one.task_service.note(task.id, "The phone is waited for.")
            async with asyncio.timeout(PATIENCE), aclosing(followed.events(task.id)) as events:
                assert [(await anext(events)).event.type for _ in range(2)] == ["started", "told"]
                gate.open()
                assert [heard.event.type async for heard in events] == ["step", "final"]


async def test_closing_ends_who_follows(tmp_path: Path) -> None:
    """Seen failing when `close` only stopped listening: the follower then waited for ever."""
    async with bench(tmp_path, EchoMind(before_step=Gate())) as one:
        with following(one) as followed:
            task = await one.accept()
            heard = asyncio.create_task(all_of(followed, task.id))
            await one.until(task, TaskState.WORKING)
        assert not any(isinstance(event, TaskEnded) for event in await heard)


async def test_a_follower_is_not_forgotten_among_many_tasks(tmp_path: Path) -> None:
    gate = Gate()
    limits = ServiceLimits(
        patience=LIMITS.patience, goodbye=LIMITS.goodbye, drain=LIMITS.drain, tick=LIMITS.tick, max_live=1000
    )

    async def first_waits(order: TaskOrder) -> AsyncIterator[TaskEvent]:
        if order.task == "1":
            await gate("1", 1)
        yield TaskEnded(outcome=Outcome.SUCCEEDED, summary=order.text)

    async with bench(tmp_path, ScriptedMind(first_waits), limits=limits) as one:
        with following(one) as followed:
            first = await one.accept("the first")
            heard = asyncio.create_task(all_of(followed, first.id))
            await gate.reached.wait()
            for _ in range(101):
                last = await one.accept("another")
            await one.until(last, TaskState.ENDED)
            gate.open()
            (end,) = await heard
            assert isinstance(end, TaskEnded)
            assert end.summary == "the first"


async def test_answers_and_why_not(tmp_path: Path) -> None:
    questions = [
        Question(id=f"q{n}", run=RunId("1"), kind=kind, text="?")
        for n, kind in enumerate((QuestionKind.APPROVE, QuestionKind.ASK))
    ]
    heard: list[Answer] = []

    async def asking(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield Started(run=RunId("1"), phone="pixel", phone_name="Pixel")
        for question in questions:
            yield Asked(question=question)
            heard.append(await agent.answers.get())
        yield TaskEnded(outcome=Outcome.BLOCKED, summary="over")

    agent = ScriptedMind(asking)
    async with bench(tmp_path, agent) as one:
        with following(one) as followed:
            task = await one.accept()
            async with asyncio.timeout(PATIENCE), aclosing(followed.events(task.id)) as events:
                assert [(await anext(events)).event.type for _ in range(2)] == ["started", "asked"]
                service = one.task_service
                with pytest.raises(BadText, match="allow or deny"):
                    await service.answer("q0", "perhaps", ANNA)
                assert (await service.answer("q0", "Yes.", ANNA)).won
                assert not (await service.answer("q0", "deny", ANNA)).won
                with pytest.raises(UnknownQuestion):
                    await service.answer("unknown", "x", ANNA)
                assert (await anext(events)).event.type == "asked"
                await service.give_up("q1")
                assert (await anext(events)).event.type == "final"
            assert [(answer.text, answer.expired) for answer in heard] == [("allow", False), ("", True)]


async def test_several_phones_are_heard_together_and_told_apart(tmp_path: Path) -> None:
    phones = (WishedPhone("pixel", "Pixel"), WishedPhone("nokia", "Nokia"))
    async with bench(tmp_path, EchoMind(steps=1)) as one:
        with following(one) as followed:
            wish = TaskRequest("open settings", ANNA, Origin(HERE, ""), phones=phones)
            task = (await one.task_service.accept(wish)).task
            async with asyncio.timeout(PATIENCE):
                heard = [each async for each in followed.events(task.id)]
    assert [(each.part, each.event.type) for each in heard if each.phone == "Pixel"] == [
        ("1.1", "started"),
        ("1.1", "step"),
        ("1.1", "final"),
    ]
    assert [each.event.type for each in heard if each.phone == "Nokia"] == ["started", "step", "final"]
    lines = [line_of(each) for each in heard]
    assert [line["type"] for line in lines].count("final") == 1
    assert lines[-1]["type"] == "final"
    assert "Done on 2 of 2 phones." in lines[-1]["summary"]
    assert {line["on"] for line in lines if line["type"] == "part end"} == {"Pixel", "Nokia"}


async def test_the_end_of_each_phone_is_told_also_when_nobody_was_there(tmp_path: Path) -> None:
    phones = (WishedPhone("pixel", "Pixel"), WishedPhone("nokia", "Nokia"))
    async with bench(tmp_path, EchoMind(steps=1)) as one:
        task = (await one.task_service.accept(TaskRequest("open settings", ANNA, Origin(HERE, ""), phones=phones))).task
        await one.until(task, TaskState.ENDED)
        with following(one) as followed:
            heard = [each async for each in followed.events(task.id)]
    ends = [each.part for each in heard if each.event.type == "final"]
    assert (sorted(ends[:2]), ends[2:]) == (["1.1", "1.2"], [""])
