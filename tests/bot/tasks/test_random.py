from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agent.questions import QuestionKind
from bot.domain.task import TRANSITIONS, TaskError, TaskState
from bot.store.outbox import FinalPayload
from bot.store.sqlite.database import DATABASE_NAME
from tests.bot.tasks.bench import ANNA, Bench, Clock, Gate, bench
from tests.fakes.echo import EchoMind
from tests.fixtures.databases import open_store

pytestmark = pytest.mark.slow

RECORD_MOVES = """
CREATE TABLE moves (task INTEGER, before TEXT, after TEXT);
CREATE TRIGGER move AFTER UPDATE OF state ON tasks WHEN old.state <> new.state
BEGIN INSERT INTO moves VALUES (old.id, old.state, new.state); END;
"""

COMMANDS = st.lists(
    st.tuples(
        st.sampled_from(
            ["accept", *["step"] * 3, *["cancel", "pause", "resume"] * 2, "steer", "answer", "later", "restart"]
        ),
        st.integers(1, 2),
        st.booleans(),
    ),
    min_size=4,
    max_size=20,
)
"""What is done, with which task, and whether it is waited for or meets the next command half way."""


async def carry_out(one: Bench, gate: Gate, command: str, number: int) -> None:
    task = str(number)
    match command:
        case "accept":
            await one.accept(event=task)
        case "step":
            gate.open()
        case "cancel":
            await one.task_service.cancel(task, ANNA)
        case "pause":
            await one.task_service.pause(task, ANNA)
        case "resume":
            await one.task_service.resume(task, "", ANNA)
        case "steer":
            await one.task_service.steer(task, "left", ANNA)
        case "answer":
            for question in await one.task_service.open_questions(task):
                await one.task_service.answer(question.question.id, "yes", ANNA)
        case "later":
            one.clock.now += 1000 * number
            await one.task_service.expire()
        case _:
            raise AssertionError(command)


async def live_through(path: Path, commands: list[tuple[str, int, bool]]) -> None:
    clock, left = Clock(), list(commands)
    store = await open_store(path)
    await store.close()
    with sqlite3.connect(path / DATABASE_NAME) as connection:
        connection.executescript(RECORD_MOVES)
    connection.close()
    while left:
        gate = Gate()
        agent = EchoMind(steps=2, question=QuestionKind.APPROVE, before_step=gate)
        async with bench(path, agent, clock=clock) as one:
            under_way: list[asyncio.Task[None]] = []
            while left:
                command, number, waited_for = left.pop(0)
                if command == "restart":
                    break
                under_way.append(asyncio.create_task(carry_out(one, gate, command, number)))
                if waited_for:
                    await asyncio.wait(under_way)
            for result in await asyncio.gather(*under_way, return_exceptions=True):
                if isinstance(result, BaseException) and not isinstance(result, TaskError):
                    raise result
    async with bench(path, EchoMind(), clock=clock) as one:
        for task in await one.task_service.active():
            try:
                await one.task_service.cancel(task.id, ANNA)
            except TaskError:
                continue
        assert await one.task_service.active() == ()
        assert await one.task_service.open_questions() == ()
        for task in await one.task_service.recent(9):
            assert sum(isinstance(told, FinalPayload) for told in await one.outbox(task)) == 1
            assert task.state is TaskState.ENDED
            assert task.outcome is not None


def moves(path: Path) -> list[tuple[TaskState, TaskState]]:
    with sqlite3.connect(path / DATABASE_NAME) as connection:
        found = connection.execute("SELECT before, after FROM moves").fetchall()
    connection.close()
    return [(TaskState(before), TaskState(after)) for before, after in found]


# No shrinking: commands race, so that a smaller example need not fail again.
@pytest.mark.sqlite
@settings(
    max_examples=30,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(COMMANDS)
def test_whatever_people_do_the_table_holds_and_every_end_is_told_once(commands: list[tuple[str, int, bool]]) -> None:
    """The moves are recorded by a trigger in the database itself. Seen failing with `require` taken out of `moved`:
    a task that ended
    goes on, in about every second run (`test_a_pause_that_meets_the_end` always does).
    """
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory)
        asyncio.run(live_through(path, [("accept", 1, True), *commands]))
        for before, after in moves(path):
            assert after in TRANSITIONS[before]
