"""The power fails in the middle of a write: what is left of the log is a beginning of it, perhaps with dust behind."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import Store
from tests.bot.store.conftest import add_task
from tests.chaos.records import damage, rows

pytestmark = pytest.mark.sqlite

TASKS = 12
CUTS = 12
LOG = f"{DATABASE_NAME}-wal"


async def written(directory: Path, at: Path) -> None:
    """The files of a store as they are on the disk while it runs, with nothing of the log taken over yet."""
    store = await Store.open(directory)
    try:
        for number in range(TASKS):
            await add_task(store, str(number))
        shutil.copytree(directory, at, ignore=shutil.ignore_patterns("*-shm", "frames"))
    finally:
        await store.close()


@pytest.mark.parametrize("dust", [False, True], ids=["cut", "with dust"])
async def test_what_was_written_before_the_cut_is_there(tmp_path: Path, dust: bool) -> None:
    """Tasks are there in the order in which they were accepted, up to some point, and the file is whole."""
    running = tmp_path / "running"
    running.mkdir()
    await written(running, tmp_path / "left")
    log = (tmp_path / "left" / LOG).read_bytes()
    chance = random.Random(20261121)
    kept = []
    for number, cut in enumerate([*sorted(chance.randrange(len(log)) for _ in range(CUTS)), len(log)]):
        after = tmp_path / str(number)
        shutil.copytree(tmp_path / "left", after)
        (after / LOG).write_bytes(log[:cut] + (chance.randbytes(5000) if dust else b""))
        store = await Store.open(after)
        await store.close()
        assert damage(after) == []
        found = [str(row[0]) for row in rows(after, "SELECT text FROM tasks ORDER BY id")]
        assert found == [str(row[0]) for row in rows(running, "SELECT text FROM tasks ORDER BY id")][: len(found)]
        kept.append(len(found))
    assert kept == sorted(kept)
    assert kept[-1] == TASKS
    assert kept[0] < TASKS, "no cut took anything: the log was empty"
