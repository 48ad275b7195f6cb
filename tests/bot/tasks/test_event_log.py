"""The log of a task: what is in it, that it is numbered without a gap, and that reading it does not grow with a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from agent.events import Asked, FileFound, Planned, Resumed, Started, Step, TaskEnded, TaskEvent, Thinking, Todo, Told
from agent.ports.agent import TaskOrder
from agent.ports.journal import CallKey, NewCall
from agent.questions import Question, QuestionKind
from agent.recorded_skills.step_record import StepRecord
from agent.run import Outcome, RunId
from bot.domain.task import Closing, TaskState
from bot.domain.task_events import (
    Accepted,
    Ended,
    LoggedEvent,
    Noted,
    QuestionClosed,
    StateChanged,
    StepDone,
    ToolCalled,
    ToolReturned,
)
from bot.domain.task_request import Origin, TaskRequest, WishedPhone
from bot.store.database import Row, Source, Statement, Transaction, Values
from bot.store.frames import FrameFiles
from bot.store.sqlite.database import DATABASE_NAME, Result, SQLiteDatabase, sql_of
from bot.store.store import Store
from bot.tasks.follow import TaskFollowers
from tests.bot.tasks.bench import ANNA, HERE, PATIENCE, Bench, Clock, Gate, bench
from tests.bot.tasks.minds import ScriptedMind
from tests.fakes.echo import EchoMind

RUN = RunId("1")


async def log_of(one: Bench, task: str = "1") -> tuple[LoggedEvent, ...]:
    found = await one.store.task_events.of_task(task)
    assert [each.number for each in found] == list(range(1, len(found) + 1))
    return found


async def test_the_logs_of_all_tasks_are_read_behind_one_place(tmp_path: Path) -> None:
    """In one order, also where the clock stands; and no place comes twice, whatever is removed. Seen failing with the
    number that follows the highest there is.
    """
    async with bench(tmp_path, EchoMind()) as one:
        tasks = [await one.accept(text, event=text) for text in ("first", "second")]
        for task in tasks:
            await one.until(task, TaskState.ENDED)
        log = one.store.task_events
        found = await log.since(0)
        assert {each.task for each in found} == {task.id for task in tasks}
        places = [each.position for each in found]
        assert places == sorted(set(places))
        assert await log.since(places[2]) == found[3:]
        assert (await log.latest(), await log.missed(places[-3])) == (places[-1], 2)
        for task in tasks:
            await one.store.pruning.forget(task.id)
        assert (await log.since(0), await log.latest()) == ((), 0)
        one.clock.now += 1
        await one.accept("third", event="third")
        assert await log.latest() > places[-1]


async def test_a_task_has_one_log_of_all_that_happens_to_it(tmp_path: Path) -> None:
    gate = Gate()

    async def script(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield Planned(plan="First.", todos=(Todo(title="Look"),))
        yield Thinking(node="planner", text="First")
        yield Started(run=RUN, phone="pixel", phone_name="Pixel")
        yield Told(text="The phone is waited for.")
        yield Step(run=RUN, subtask=1, step=1, max_steps=9, summary="Tapped", record=StepRecord(followed=3))
        yield Step(run=RUN, subtask=1, step=1, max_steps=9, summary="Told again after a restart")
        yield Asked(question=Question(id="q", run=RUN, kind=QuestionKind.SECRET, text="Which code?"))
        await agent.answers.get()
        yield Resumed(question="q")
        yield FileFound(name="a.txt", content="abc.txt")
        await gate("1", 1)
        yield TaskEnded(outcome=Outcome.SUCCEEDED, summary="Done.", data="7", steps=1)

    agent = ScriptedMind(script)
    async with bench(tmp_path, agent) as one:
        task = await one.accept("look", event="m1")
        await one.until(task, TaskState.WAITING)
        await one.task_service.answer("q", "5831", ANNA)
        await gate.reached.wait()
        await one.task_service.steer(task.id, "Be quick.", ANNA)
        key = CallKey(task.id, "coder", 1, 1, 0)
        await one.store.tool_calls.begin(key, NewCall("calculate", {"expression": "6*7"}))
        await one.store.tool_calls.finish(key, "done", {"told": ["42"]}, 0.5)
        gate.open()
        await one.until(task, TaskState.ENDED)
        events = [each.event for each in await log_of(one)]
        rows = await one.store.tool_calls.of_task(task.id)
    assert rows[0].ok
    assert [type(event) for event in events] == [
        Accepted,
        Planned,
        Thinking,
        Started,
        StateChanged,
        StepDone,
        Asked,
        StateChanged,
        QuestionClosed,
        Resumed,
        StateChanged,
        FileFound,
        Noted,
        ToolCalled,
        ToolReturned,
        Ended,
    ]
    assert events[0] == Accepted(text="look", source="m1")
    assert events[2] == Thinking(node="planner", text="First")
    states = [event.state for event in events if isinstance(event, StateChanged)]
    assert states == [TaskState.WORKING, TaskState.WAITING, TaskState.WORKING]
    assert events[5] == StepDone(run=RUN, subtask=1, step=1, max_steps=9, summary="Tapped", index=0, phone_name="Pixel")
    assert events[8] == QuestionClosed(question="q", by=ANNA.name)
    assert events[12] == Noted(text="Be quick.", by=ANNA.name)
    assert events[14] == ToolReturned(
        call="1-coder-1-1-0", member="coder", name="calculate", state="done", result={"told": ["42"]}, seconds=0.5
    )
    assert events[15] == Ended(outcome=Outcome.SUCCEEDED, summary="Done.", data="7", steps=1)
    assert not any("5831" in event.model_dump_json() for event in events)


async def test_a_question_that_ends_with_its_task_and_an_end_without_the_agent_are_in_the_log(tmp_path: Path) -> None:
    async with bench(tmp_path, EchoMind(steps=2, question=QuestionKind.ASK)) as one:
        task = await one.until(await one.accept(), TaskState.WAITING)
        await one.task_service.cancel(task.id, ANNA)
        *_, closed, end = [each.event for each in await log_of(one)]
    assert isinstance(closed, QuestionClosed)
    assert (closed.by, closed.why) == ("", Closing.CANCELLED)
    assert isinstance(end, TaskEnded)
    assert end.outcome is Outcome.CANCELLED


async def test_several_phones_share_the_log_of_their_task(tmp_path: Path) -> None:
    phones = (WishedPhone("pixel", "Pixel"), WishedPhone("nokia", "Nokia"))
    async with bench(tmp_path, EchoMind(steps=3)) as one:
        task = (await one.task_service.accept(TaskRequest("open settings", ANNA, Origin(HERE, ""), phones=phones))).task
        await one.until(task, TaskState.ENDED)
        found = await log_of(one, task.id)
    steps = [each.event for each in found if isinstance(each.event, StepDone)]
    assert [step.index for step in steps] == list(range(6))
    assert {step.phone_name for step in steps} == {"Pixel", "Nokia"}
    ends = [each.part for each in found if isinstance(each.event, TaskEnded)]
    assert (sorted(ends[:2]), ends[2:]) == (["2", "3"], [""])
    assert found[-1].is_last


async def test_what_is_rolled_back_is_not_told(tmp_path: Path) -> None:
    """Seen failing with listeners that were called in the transaction."""
    async with bench(tmp_path, EchoMind(before_step=Gate())) as one:
        task = await one.until(await one.accept(), TaskState.WORKING)
        before, heard = await log_of(one), []
        one.store.task_events.on_append(lambda _task, event: heard.append(event))

        async def fails(transaction: Transaction) -> None:
            await one.store.task_events.append(transaction, task, Noted(text="x", by="Anna"))
            raise LookupError

        with pytest.raises(LookupError):
            await one.store.write(fails)
        assert (await log_of(one), heard) == (before, [])


class Counted(SQLiteDatabase):
    """Remembers what is read."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]  # what `open` gives
        self.reads: list[tuple[str, int]] = []
        """Each statement on one line, and how many rows it brought; -1 for several as one."""

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        found = await super().fetch(statement, values, patience=patience)
        self.reads.append((" ".join(sql_of(statement).split()), len(found)))
        return found

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        self.reads.append(("", -1))
        return await super().read(work, patience=patience)


async def test_the_work_for_a_step_does_not_grow_with_the_run(tmp_path: Path) -> None:
    gate, clock = Gate(), Clock()
    database = await Counted.open(tmp_path / DATABASE_NAME)
    assert isinstance(database, Counted)
    store = Store(database, FrameFiles(tmp_path / "frames", clock), clock)
    async with bench(tmp_path, EchoMind(steps=60, before_step=gate), clock=clock, store=store) as one:
        followed = TaskFollowers(one.task_service, store.task_events)
        task = await one.accept()
        counts: dict[int, tuple[int, int]] = {}
        async with asyncio.timeout(PATIENCE), aclosing(followed.events(task.id)) as events:
            assert isinstance((await anext(events)).event, Started)
            for number in range(1, 61):
                database.reads.clear()
                gate.open()
                heard = (await anext(events)).event
                assert isinstance(heard, Step)
                assert heard.step == number
                counts[number] = (len(database.reads), sum(rows for _, rows in database.reads))
        followed.close()
    assert {number: counts[number] for number in (10, 30, 60)} == dict.fromkeys((10, 30, 60), (1, 1))
    assert max(reads for reads, _ in counts.values()) <= 2
