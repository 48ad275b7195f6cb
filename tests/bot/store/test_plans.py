"""What is asked again and again does not read a table from its beginning to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.store.actions import Steps
from bot.store.conversations import Conversations
from bot.store.database import Row, Statement, Values
from bot.store.outbox import Outbox
from bot.store.pruning import Pruning
from bot.store.schedules import Schedules
from bot.store.sqlite.database import SQLiteDatabase, sql_of
from bot.store.task_events import TaskEvents
from bot.store.tasks import Tasks
from bot.store.webhooks import Webhooks

pytestmark = pytest.mark.sqlite

Asking = Callable[[SQLiteDatabase], Awaitable[object]]


class Overheard(SQLiteDatabase):
    """Remembers what was asked."""

    asked: tuple[str, Values] = ("", ())

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        self.asked = sql_of(statement), values
        return await super().fetch(statement, values, patience=patience)

    async def plan(self) -> list[str]:
        """How SQLite answers what was asked last, a line for each table."""
        sql, values = self.asked
        return [str(row["detail"]) for row in await super().fetch(f"EXPLAIN QUERY PLAN {sql}", values)]


def log_of(database: SQLiteDatabase) -> TaskEvents:
    """Where events are kept; at which time does not matter."""
    return TaskEvents(database, Conversations(database, float), float)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Overheard]:
    opened = await Overheard.open(tmp_path / "opengui.sqlite3")
    assert isinstance(opened, Overheard)
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    "asking",
    [
        pytest.param(lambda database: Steps(database).of("1"), id="the steps of a task"),
        pytest.param(lambda database: Steps(database).last("1"), id="the last step of a task"),
        pytest.param(lambda database: log_of(database).of_task("1", 7), id="the log of a task"),
        pytest.param(lambda database: log_of(database).of_conversation("c", 7), id="the log of a conversation"),
        pytest.param(lambda database: Tasks(database).active(), id="tasks that live"),
        pytest.param(lambda database: Tasks(database).interrupted_before(1.0), id="tasks that were given up"),
        pytest.param(lambda database: Tasks(database).parts("1"), id="parts"),
        pytest.param(lambda database: Outbox(database, Webhooks(database)).pending(1.0), id="messages to send"),
        pytest.param(lambda database: Outbox(database, Webhooks(database)).of("1"), id="messages of a task"),
        pytest.param(lambda database: Webhooks(database).due(1.0), id="webhooks that are due"),
        pytest.param(lambda database: Schedules(database).is_marked("1", "x"), id="marks of a trigger"),
        pytest.param(lambda database: Pruning(database).with_checkpoints(1.0, 10), id="checkpoints to remove"),
        pytest.param(lambda database: Pruning(database).old_tasks(1.0, 10), id="tasks to remove"),
    ],
)
async def test_an_index_is_used(database: Overheard, asking: Asking) -> None:
    """Seen failing for six of them as they were before: with 100,000 steps those of one task took 0.4 s to read."""
    await asking(database)
    plan = await database.plan()
    assert plan
    assert [line for line in plan if line.startswith("SCAN") and "USING INDEX" not in line] == []
