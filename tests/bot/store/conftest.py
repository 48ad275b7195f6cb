from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.address import Address, Person
from bot.domain.task import Task
from bot.domain.task_request import Origin, TaskRequest
from bot.store.store import Store
from tests.fixtures.databases import open_store

HERE = Address("web", "console", "main")
ANNA = Person("web", "1", "Anna")


def wish(
    event: str = "1", text: str = "open the browser", person: Person = ANNA, origin: Address = HERE
) -> TaskRequest:
    return TaskRequest(text, person, Origin(origin, event))


async def add_task(store: Store, event: str = "1", now: float = 100.0, origin: Address = HERE) -> Task:
    return await store.write(lambda transaction: store.tasks.add(transaction, wish(event, origin=origin), now=now))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path, clock=lambda: 1_000.0)
    yield opened
    await opened.close()
