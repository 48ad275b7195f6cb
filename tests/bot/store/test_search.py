"""Finding tasks of before, on real SQLite."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agent.run import Outcome
from bot.domain.address import Person
from bot.domain.task import TaskState
from bot.domain.task_request import WishedPhone
from bot.store.database import Transaction
from bot.store.search import TaskFilter
from bot.store.store import Store
from tests.bot.store.conftest import ANNA, wish

BEN = Person("discord", "7", "Ben")


@pytest.fixture
async def filled(store: Store) -> Store:
    """Five tasks of two people on two phones, the last one with a part on each."""
    texts = ("open the browser", "100% of_it", "Открой Настройки", "打开设置", "send it to all")
    people = (ANNA, BEN, ANNA, BEN, ANNA)

    async def work(transaction: Transaction) -> None:
        for number, (text, person) in enumerate(zip(texts, people, strict=True), 1):
            await store.tasks.add(transaction, wish(str(number), text, person), now=number)
        for phone in ("pixel", "galaxy"):
            asked = replace(wish(f"5.{phone}", "send it to all"), phones=(WishedPhone(phone, phone.title()),))
            await store.tasks.add(transaction, asked, now=6, parent="5")
        await transaction.fetch("UPDATE tasks SET phone = 'galaxy', phone_name = 'Galaxy' WHERE id = 7")
        await transaction.fetch("UPDATE tasks SET phone = 'pixel', phone_name = 'Old name' WHERE id = 1")
        await transaction.fetch("UPDATE tasks SET phone = 'pixel', phone_name = 'Pixel' WHERE id IN (2, 6)")
        await transaction.fetch(
            "UPDATE tasks SET state = 'ended', outcome = 'failed', ended = 9, summary = 'Straße GESPERRT' WHERE id = 2"
        )

    await store.write(work)
    return store


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (TaskFilter(), "54321"),
        (TaskFilter(text="browser OPEN"), "1"),
        (TaskFilter(text="browser send"), ""),
        (TaskFilter(text="открой"), "3"),
        (TaskFilter(text="设置"), "4"),
        (TaskFilter(text="STRASSE gesperrt"), "2"),
        (TaskFilter(text="%"), "2"),
        (TaskFilter(text="_"), "2"),
        (TaskFilter(text="'; DROP TABLE tasks; --"), ""),
        (TaskFilter(text="#3"), "3"),
        (TaskFilter(text="4"), "4"),
        (TaskFilter(standing=TaskState.QUEUED), "5431"),
        (TaskFilter(standing=Outcome.FAILED), "2"),
        (TaskFilter(phone="pixel"), "521"),
        (TaskFilter(phone="galaxy"), "5"),
        (TaskFilter(platform="discord", person="7"), "42"),
        (TaskFilter(platform="discord", person="1"), ""),
        (TaskFilter("of", Outcome.FAILED, "pixel", "discord", "7"), "2"),
    ],
)
async def test_what_is_found(filled: Store, wanted: TaskFilter, found: str) -> None:
    assert "".join(task.id for task in await filled.search.find(wanted, 10)) == found
    pages, last = "", None
    while page := await filled.search.find(wanted, 2, before=last):
        last = page[-1].id
        pages += "".join(task.id for task in page)
    assert pages == found


async def test_what_there_is_to_choose_from(filled: Store) -> None:
    """By the names of last, the latest first; parts count for their phones."""
    choices = await filled.search.choices()
    assert choices.phones == [("galaxy", "Galaxy"), ("pixel", "Pixel")]
    assert choices.people == [("web", "1", "Anna"), ("discord", "7", "Ben")]
    assert json.dumps(choices.people)
