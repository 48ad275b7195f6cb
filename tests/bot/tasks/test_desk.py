from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.events import FileFound, Planned, Started, Step, TaskEnded, TaskEvent, Told, Waiting
from agent.models.base import Usage
from agent.ports.agent import TaskOrder
from agent.ports.journal import ActionKey, ActionState, LeaseLost
from agent.ports.leases import Lease
from agent.run import Outcome, RunId
from bot.domain.address import Address
from bot.domain.task import ActionUnfinished, AgentFailed, BadText, TaskState, TooManyTasks, UnknownTask, WrongState
from bot.domain.task_request import Origin, TaskRequest
from bot.store.database import Transaction
from bot.store.outbox import FilePayload, FinalPayload
from tests.bot.tasks.bench import ANNA, HERE, LIMITS, PATIENCE, Clock, Gate, bench
from tests.bot.tasks.minds import ScriptedMind
from tests.fakes.echo import EchoMind

STARTED = Started(run=RunId("1"), phone="pixel", phone_name="Pixel")


async def test_a_task_from_acceptance_to_its_final_message(tmp_path: Path) -> None:
    async with bench(tmp_path, EchoMind(steps=3)) as one:
        events: list[tuple[str, TaskEvent]] = []
        one.task_service.on_event(lambda task, event: events.append((task, event)))
        task = await one.accept("  say\x00 hello\r\nnow ")
        assert (task.state, task.text, task.person) == (TaskState.QUEUED, "say hello\nnow", ANNA)
        ended = await one.until(task, TaskState.ENDED)
        assert (ended.outcome, ended.summary) == (Outcome.SUCCEEDED, "Echo: say hello\nnow")
        assert (ended.steps, ended.phone, ended.usage) == (3, "echo", Usage(calls=3))
        assert ended.started == ended.ended == one.clock.now
        assert [step.summary for step in await one.task_service.steps(task.id)] == [f"echo {n} of 3" for n in (1, 2, 3)]
        assert await one.outbox(task) == [FinalPayload()]
        assert [event.type for _, event in events] == ["started", "step", "step", "step", "final"]
        assert await one.task_service.active() == ()
        assert [found.id for found in await one.task_service.recent(5)] == ["1"]


async def test_the_same_event_is_accepted_once(tmp_path: Path) -> None:
    async with bench(tmp_path, EchoMind()) as one:
        wish = TaskRequest("x", ANNA, Origin(HERE, "7"))
        results = await asyncio.gather(*(one.task_service.accept(wish) for _ in range(5)))
        assert sorted(accepted.duplicate for accepted in results) == [False, True, True, True, True]
        assert {accepted.task.id for accepted in results} == {"1"}
        elsewhere = replace(wish, origin=Origin(Address("web", "console", "other"), "7"))
        assert not (await one.task_service.accept(elsewhere)).duplicate
        no_event = replace(wish, origin=Origin(HERE, ""))
        assert not (await one.task_service.accept(no_event)).duplicate
        assert not (await one.task_service.accept(no_event)).duplicate


@pytest.mark.parametrize(("text", "why"), [(" \x07 ", "is empty"), ("x" * 4001, "4001 characters; the limit is 4000")])
async def test_a_text_that_cannot_be_a_task(tmp_path: Path, text: str, why: str) -> None:
    async with bench(tmp_path, EchoMind()) as one:
        with pytest.raises(BadText, match=why):
            await one.accept(text)
        assert await one.task_service.recent(5) == ()


async def test_a_full_desk_takes_no_more(tmp_path: Path) -> None:
    async with bench(tmp_path, EchoMind(before_step=Gate()), limits=replace(LIMITS, max_live=1)) as one:
        await one.accept()
        with pytest.raises(TooManyTasks, match="already 1 tasks"):
            await one.accept()


async def test_a_caller_that_goes_away_does_not_strand_its_task(tmp_path: Path) -> None:
    """Seen failing (the task stays queued for ever) with `shield` taken away from `accept`."""
    async with bench(tmp_path, EchoMind()) as one:
        calling = asyncio.create_task(one.accept())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        async with asyncio.timeout(PATIENCE):
            while not await one.task_service.recent(1):
                await asyncio.sleep(0)
        await one.until("1", TaskState.ENDED)


async def test_cancel_while_working(tmp_path: Path) -> None:
    gate = Gate()
    async with bench(tmp_path, EchoMind(before_step=gate)) as one:
        task = await one.accept()
        await one.until(task, TaskState.WORKING)
        ended = await one.task_service.cancel(task.id, ANNA)
        assert (ended.state, ended.outcome, ended.summary) == (
            TaskState.ENDED, Outcome.CANCELLED, "Cancelled by Anna.",
        )  # fmt: skip
        with pytest.raises(WrongState, match="Task 1 has ended"):
            await one.task_service.cancel(task.id, ANNA)
        assert await one.outbox(task) == [FinalPayload(quiet=True)]


@pytest.mark.usefixtures("virtual_time")
async def test_cancel_of_a_mind_that_hangs_takes_its_phone_away(tmp_path: Path) -> None:
    """Seen failing (no LeaseLost: the hung run may touch the phone) with `free_phones` taken out of `cancel`."""
    holding = asyncio.Event()

    async def script(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield STARTED
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            # A call that cannot be cancelled.
            await holding.wait()

    async with bench(tmp_path, ScriptedMind(script, hanging=("cancel",))) as one:
        lease = [item async for item in one.task_service._leases.acquire(RunId("1"), "")][-1]
        assert isinstance(lease, Lease)
        task = await one.accept()
        await one.until(task, TaskState.WORKING)
        ended = await one.task_service.cancel(task.id, ANNA)
        assert ended.outcome is Outcome.CANCELLED
        assert "did not stop in time" in ended.summary
        with pytest.raises(LeaseLost):
            await one.store.journal.begin(ActionKey(RunId("1"), 1, 1, 0), {}, fence=lease.fence)
        holding.set()
        async with asyncio.timeout(PATIENCE):
            while one.task_service._workers.alive(task.id):
                await asyncio.sleep(0.01)
        assert await one.outbox(task) == [FinalPayload(quiet=True)]


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("done", "Nothing was being sent to the phone."),
        ("rejected", "Nothing was being sent to the phone."),
        ("begun", "while sending an action, which may still reach the phone."),
        ("uncertain", "while sending an action, which may still reach the phone."),
        ("uncertain before", "Nothing was being sent to the phone."),
        ("send_file", "Nothing was being sent to the phone."),
    ],
)
async def test_what_hangs_is_said_to_reach_the_phone_only_when_an_input_is_under_way(
    tmp_path: Path, state: str, said: str
) -> None:
    """Seen failing with one sentence for all: it was said of a call to the model, too."""
    clock = Clock()

    class HangsAtTheEnd(ScriptedMind):
        async def cancel(self, task: str) -> None:
            if state == "uncertain":
                await one.store.journal.finish(key, "uncertain", "stopped while it was being sent")
            await super().cancel(task)

    async def script(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield STARTED
        await asyncio.Event().wait()

    key = ActionKey(RunId("1"), 1, 1, 0)
    agent = HangsAtTheEnd(script, hanging=("cancel", "pause"))
    async with bench(tmp_path, agent, clock=clock) as one:
        lease = [item async for item in one.task_service._leases.acquire(RunId("1"), "")][-1]
        assert isinstance(lease, Lease)
        task = await one.accept()
        await one.until(task, TaskState.WORKING)
        kind = "send_file" if state == "send_file" else "tap"
        await one.store.journal.begin(key, {"kind": kind}, fence=lease.fence)
        finished: dict[str, ActionState] = {"done": "done", "rejected": "rejected", "uncertain before": "uncertain"}
        if state in finished:
            await one.store.journal.finish(key, finished[state], "")
        clock.now += 1
        if state != "uncertain":
            with pytest.raises(ActionUnfinished) as moving:
                await one.task_service.pause(task.id, ANNA)
            assert moving.value.sent is ("may still" in said)
        assert (await one.task_service.cancel(task.id, ANNA)).summary.count(said) == 1


@pytest.mark.usefixtures("virtual_time")
async def test_moving_up_in_the_queue_waits_for_no_store(tmp_path: Path) -> None:
    """All who wait move up at once, and a stop would stand in line behind them. Seen failing with each place kept."""
    moving, held, let_go = asyncio.Event(), threading.Event(), threading.Event()

    async def script(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield Waiting(place=2, phone="Pixel")
        await moving.wait()
        yield Waiting(place=1, phone="Pixel")
        await asyncio.Event().wait()

    async def hold(_: Transaction) -> None:
        held.set()
        let_go.wait(PATIENCE)

    async with bench(tmp_path, ScriptedMind(script)) as one:
        events: asyncio.Queue[TaskEvent] = asyncio.Queue()
        one.task_service.on_event(lambda _task, event: events.put_nowait(event))
        task = await one.accept()
        await asyncio.wait_for(events.get(), PATIENCE)
        writing = asyncio.create_task(one.store.write(hold))
        await asyncio.to_thread(held.wait, PATIENCE)
        try:
            moving.set()
            assert await asyncio.wait_for(events.get(), PATIENCE / 2) == Waiting(place=1, phone="Pixel")
            assert await one.task_service.place_in_queue(task.id) == 1
        finally:
            let_go.set()
            await writing


async def test_only_another_task_that_has_the_phone_is_ahead(tmp_path: Path) -> None:
    """Seen failing: a task that waited again was told that it waits for itself, and one that had given its phone back
    counted as its user."""

    over = asyncio.Event()

    async def script(order: TaskOrder) -> AsyncIterator[TaskEvent]:
        if order.text == "first":
            yield STARTED
        yield Waiting(place=1, phone="Pixel")
        await over.wait()
        yield TaskEnded(outcome=Outcome.SUCCEEDED, summary="Done.", steps=0, usage=Usage())

    async with bench(tmp_path, ScriptedMind(script)) as one:
        tasks, waiting = one.task_service, asyncio.Semaphore(0)
        tasks.on_event(lambda _task, event: waiting.release() if event.type == "waiting" else None)
        first, second = await one.accept("first"), await one.accept("second")
        async with asyncio.timeout(PATIENCE):
            await waiting.acquire()
            await waiting.acquire()
        first = await one.until(first, TaskState.WORKING)
        assert (await tasks.ahead(first), await tasks.ahead(second)) == (None, None), "nobody has the phone"
        async for found in tasks._leases.acquire(RunId(first.id), "pixel"):
            assert isinstance(found, Lease)
        ahead = await tasks.ahead(second)
        assert ahead is not None
        assert ahead.task == first
        assert await tasks.ahead(first) is None
        await tasks._leases.release(RunId(first.id))
        assert await tasks.ahead(second) is None
        over.set()
        await one.until(first, TaskState.ENDED)
        await one.until(second, TaskState.ENDED)


async def test_pause_and_resume(tmp_path: Path) -> None:
    gate = Gate()
    async with bench(tmp_path, EchoMind(before_step=gate)) as one:
        task = await one.accept()
        await one.until(task, TaskState.WORKING)
        assert (await one.task_service.pause(task.id, ANNA)).state is TaskState.PAUSED
        with pytest.raises(WrongState, match="is paused, so it cannot be paused now"):
            await one.task_service.pause(task.id, ANNA)
        gate.open(9)
        assert (await one.task_service.resume(task.id, "the blue one", ANNA)).state is TaskState.WORKING
        await one.until(task, TaskState.ENDED)
        assert [step.thought for step in await one.task_service.steps(task.id)] == ["the blue one", ""]
        with pytest.raises(WrongState, match="it cannot be resumed now"):
            await one.task_service.resume(task.id, "", ANNA)


@pytest.mark.usefixtures("virtual_time")
async def test_a_pause_that_hangs_is_told_and_can_be_taken_back(tmp_path: Path) -> None:
    async def script(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield STARTED
        await asyncio.Event().wait()

    agent = ScriptedMind(script, hanging=("pause",))
    async with bench(tmp_path, agent) as one:
        task = await one.accept()
        await one.until(task, TaskState.WORKING)
        with pytest.raises(ActionUnfinished, match="nothing was being sent to the phone") as told:
            await one.task_service.pause(task.id, ANNA)
        assert told.value.task.state is TaskState.PAUSED
        agent.broken = RuntimeError("no")
        with pytest.raises(AgentFailed, match="went wrong"):
            await one.task_service.resume(task.id, "", ANNA)
        assert (await one.task_service.known(task.id)).state is TaskState.PAUSED
        agent.broken = None
        await one.task_service.resume(task.id, "", ANNA)
        agent.broken = TimeoutError()
        with pytest.raises(ActionUnfinished):
            await one.task_service.pause(task.id, ANNA)


async def test_a_pause_that_meets_the_end(tmp_path: Path) -> None:
    """Seen failing (the ended task is paused) with `require` taken out of `moved`."""

    class EndsWhenPaused(ScriptedMind):
        async def pause(self, task: str) -> None:
            await super().pause(task)
            go_on.set()
            await ended.wait()

    go_on, ended = asyncio.Event(), asyncio.Event()

    async def script(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield STARTED
        await go_on.wait()
        yield TaskEnded(outcome=Outcome.SUCCEEDED, summary="Done.")

    async with bench(tmp_path, EndsWhenPaused(script)) as one:
        one.task_service.on_event(lambda _task, event: ended.set() if event.type == "final" else None)
        task = await one.accept()
        await one.until(task, TaskState.WORKING)
        with pytest.raises(WrongState, match="has ended, so it cannot be paused"):
            await one.task_service.pause(task.id, ANNA)
        assert (await one.task_service.known(task.id)).outcome is Outcome.SUCCEEDED


async def test_a_note_reaches_the_mind_before_the_next_step(tmp_path: Path) -> None:
    gate = Gate()
    async with bench(tmp_path, EchoMind(before_step=gate)) as one:
        task = await one.accept()
        await asyncio.wait_for(gate.reached.wait(), PATIENCE)
        await one.task_service.steer(task.id, "not that one", ANNA)
        gate.open(2)
        await one.until(task, TaskState.ENDED)
        assert (await one.task_service.steps(task.id))[0].thought == "not that one"
        with pytest.raises(WrongState, match="cannot be steered"):
            await one.task_service.steer(task.id, "late", ANNA)
        with pytest.raises(BadText, match="The note is empty"):
            await one.task_service.steer(task.id, " ", ANNA)
        with pytest.raises(UnknownTask, match='no task "99"'):
            await one.task_service.steer("99", "hello", ANNA)


async def test_a_mind_that_fails_ends_the_task_with_a_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def script(order: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield STARTED
        if order.task == "1":
            raise LookupError("a private detail")

    async with bench(tmp_path, ScriptedMind(script)) as one:
        first, second = await one.accept(), await one.accept()
        for task in (first, second):
            ended = await one.until(task, TaskState.ENDED)
            assert ended.outcome is Outcome.FAILED
            assert "Something in the program went wrong" in ended.summary
            assert "private" not in ended.summary
            assert await one.outbox(task) == [FinalPayload()]
        assert "a private detail" in caplog.text
        assert "left task 2 without an end" in caplog.text


async def test_what_the_mind_tells_is_kept(tmp_path: Path) -> None:
    go_on = asyncio.Event()
    step = Step(run=RunId("1"), subtask=1, step=1, max_steps=9, summary="tap", frame="f1.jpg", usage=Usage(10, 1))

    async def script(_: TaskOrder) -> AsyncIterator[TaskEvent]:
        yield Planned(plan="first, second")
        yield Told(text="the phone is waited for")
        yield Waiting(place=2, phone="Pixel")
        await go_on.wait()
        yield STARTED
        yield step
        yield step
        yield step.model_copy(update={"step": 2, "frame": None, "usage": Usage(20, 2)})
        yield FileFound(name="a.pdf", content="f2.pdf")
        go_on.clear()
        await go_on.wait()
        yield TaskEnded(outcome=Outcome.SUCCEEDED, summary="Done.", data="4", steps=2, usage=Usage(25, 2), frame="f3")
        yield step.model_copy(update={"step": 3})

    async with bench(tmp_path, ScriptedMind(script)) as one:
        waiting = asyncio.Event()
        one.task_service.on_event(lambda _task, event: waiting.set() if event.type == "waiting" else None)
        task = await one.accept()
        await asyncio.wait_for(waiting.wait(), PATIENCE)
        assert (await one.task_service.known(task.id)).state is TaskState.QUEUED
        assert await one.task_service.place_in_queue(task.id) == 2
        go_on.set()
        working = await one.until(task, lambda found: found.steps == 2)
        assert (working.phone, working.usage, working.frame) == ("pixel", Usage(20, 2), "f1.jpg")
        assert await one.task_service.place_in_queue(task.id) is None
        async with asyncio.timeout(PATIENCE):
            while go_on.is_set():
                await asyncio.sleep(0)
        go_on.set()
        ended = await one.until(task, TaskState.ENDED)
        assert (ended.data, ended.usage, ended.frame, ended.steps) == ("4", Usage(25, 2), "f3", 2)
        assert await one.outbox(task) == [FilePayload("f2.pdf", "a.pdf"), FinalPayload()]
        await asyncio.wait_for(one.task_service._workers.wait(task.id, PATIENCE), PATIENCE)
        assert len(await one.task_service.steps(task.id)) == 2


async def test_a_listener_that_fails_stops_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise LookupError("bad listener")

    async with bench(tmp_path, EchoMind()) as one:
        ends = [one.task_service.subscribe(fail), one.task_service.on_event(fail)]
        await one.until(await one.accept(), TaskState.ENDED)
        assert "bad listener" in caplog.text
        for end in ends:
            end()
        caplog.clear()
        await one.until(await one.accept(), TaskState.ENDED)
        assert "bad listener" not in caplog.text


async def test_a_place_of_its_own(tmp_path: Path) -> None:
    thread = Address("web", "console", "main", thread="9")
    async with bench(tmp_path, EchoMind()) as one:
        task = await one.accept()
        assert (await one.task_service.set_place(task.id, thread)).place == thread
        latest = await one.store.tasks.latest_for([ANNA], HERE, elsewhere=True)
        for found in (await one.task_service.in_place(thread), latest, await one.task_service.get("1")):
            assert found is not None
            assert found.id == task.id
        with pytest.raises(UnknownTask):
            await one.task_service.set_place("5", thread)
