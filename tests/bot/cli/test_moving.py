"""`opengui migrate-store` takes a record to PostgreSQL, and backups of either are restored on the other."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from bot.cli.main import main
from bot.domain.right import Grant, Right
from bot.domain.schedule import Plan, Rule, RuleKind
from bot.domain.task_request import Origin, TaskDraft, TaskRequest
from bot.store.database import Transaction
from bot.store.directory import DataDirectory
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import Store, open_checkpoints
from bot.store.tables import metadata
from tests.bot.world import ANNA, CHANNEL
from tests.fixtures.databases import ON_POSTGRESQL
from tests.fixtures.postgresql import PostgresServer, run_on

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TASKS = 10_000 if ON_POSTGRESQL else 200
THREADS = 50


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    made = PostgresServer()
    run_on(made.url, "CREATE DATABASE one", "CREATE DATABASE two")
    yield made
    made.remove()


async def fill(directory: Path) -> None:
    """What a service leaves behind: tasks, a schedule, a right, and checkpoints."""
    store = await Store.open(directory)

    async def work(transaction: Transaction) -> None:
        for number in range(TASKS):
            request = TaskRequest(f"浇花 {number}\n'\\\" \U0001f331", ANNA, Origin(CHANNEL.address, str(number)))
            await store.tasks.add(transaction, request, now=1e9 + number)
        await store.grants.give(transaction, Grant("discord", "666", Right.ADMIN))

    await store.write(work)
    plan = Plan(ANNA, CHANNEL, "p", Rule(RuleKind.EVERY, "3600", "UTC"), "every 1h", TaskDraft("water the plants"))
    await store.schedules.add(plan, now=1e9, due=4e9)
    await store.memory().remember("discord:1", "喜欢靠窗的座位")
    await store.close()
    async with open_checkpoints(directory) as saver:
        for number in range(1, THREADS + 1):
            config: RunnableConfig = {"configurable": {"thread_id": f"task:{number}", "checkpoint_ns": ""}}
            await saver.aput(config, empty_checkpoint(), {"source": "input", "step": 1}, {})


def rows(directory: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(directory / DATABASE_NAME)) as database:
        return {
            table.name: sorted(database.execute(f"SELECT * FROM {table.name}").fetchall(), key=repr)
            for table in metadata.sorted_tables
        }


def test_a_record_moves_and_its_backups_go_either_way(
    machine: Path, server: PostgresServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine / "data").mkdir()
    asyncio.run(fill(machine / "data"))
    before = rows(machine / "data")
    assert main(["migrate-store"]) != 0, "DATABASE_URL names nothing"
    monkeypatch.setenv("DATABASE_URL", f"{server.url}/one")
    with DataDirectory(machine / "data"):
        assert main(["migrate-store"]) != 0, "a service has it"
    capsys.readouterr()
    assert main(["migrate-store"]) == 0
    told = capsys.readouterr().out
    assert f"tasks: {TASKS:,}" in told
    assert f": {THREADS}\n" in told
    assert rows(machine / "data") == before
    assert main(["migrate-store"]) != 0, "there is a record already"

    assert main(["backup", str(machine / "server.zip")]) == 0
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.setenv("DATA_DIR", str(machine / "files"))
    assert main(["restore", str(machine / "server.zip"), "--yes"]) == 0
    assert rows(machine / "files") == before
    assert main(["backup", str(machine / "files.zip")]) == 0

    monkeypatch.setenv("DATABASE_URL", f"{server.url}/two")
    monkeypatch.setenv("DATA_DIR", str(machine / "third"))
    assert main(["restore", str(machine / "files.zip"), "--yes"]) == 0
    assert main(["backup", str(machine / "again.zip")]) == 0
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.setenv("DATA_DIR", str(machine / "fourth"))
    assert main(["restore", str(machine / "again.zip"), "--yes"]) == 0
    assert rows(machine / "fourth") == before
    assert asyncio.run(threads(machine / "fourth")) == THREADS


async def threads(directory: Path) -> int:
    async with open_checkpoints(directory) as saver:
        return len({each.config["configurable"]["thread_id"] async for each in saver.alist(None)})
