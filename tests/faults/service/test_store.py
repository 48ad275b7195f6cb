"""The store on a disk that is full, and beside a program that holds its files."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from bot.store.database import Transaction
from bot.store.directory import DataDirectory
from bot.store.errors import DirectoryInUse, StoreAway
from bot.store.frames import FrameFiles
from bot.store.sqlite.checkpoints import CHECKPOINTS_NAME, SQLiteCheckpoints, open_checkpoints
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import Store
from tests.bot.store.conftest import add_task

pytestmark = pytest.mark.sqlite

LIMIT = 30.0
PLENTY = 1_000_000


async def pages(store: Store, number: int) -> None:
    """The most pages that the database may have; SQLite then says that it is full (SQLITE_FULL)."""
    await store.write(lambda transaction: transaction.fetch(f"PRAGMA max_page_count = {number}"))


async def much(transaction: Transaction) -> None:
    await transaction.fetch("INSERT INTO phone_names VALUES ('p', ?, 'p', 0)", ("x" * 200_000,))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def test_a_full_database_is_told_once_and_goes_on(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    await add_task(store, "1")
    await pages(store, 1)
    for _ in range(3):
        with pytest.raises(StoreAway, match="is full"):
            await store.write(much)
    assert await store.trouble() == "database or disk is full"
    assert len(await store.tasks.active()) == 1, "it can be read meanwhile"
    await pages(store, PLENTY)
    assert await store.trouble() == "", "it is tried by whoever asks, though nobody else writes"
    await store.write(much)
    assert [record.levelname for record in caplog.records if "written to" in record.getMessage()][:1] == ["ERROR"]
    assert sum(record.levelname == "ERROR" for record in caplog.records) == 1
    assert not [row for row in await store.refusals.totals() if row.kind == "probe"]


@pytest.mark.slow
async def test_patience_waits_for_room_and_writes_once(store: Store) -> None:
    """Seen failing without `retry_while_away` in `Database.write`: the first attempt's error comes through."""
    await pages(store, 1)
    attempts = 0

    async def work(transaction: Transaction) -> None:
        nonlocal attempts
        attempts += 1
        await much(transaction)

    writing = asyncio.create_task(store.write(work, patience=LIMIT))
    async with asyncio.timeout(LIMIT):
        while attempts < 2:
            await asyncio.sleep(0)
    await pages(store, PLENTY)
    async with asyncio.timeout(LIMIT):
        await writing
    assert len((await store.phone_names.names()).items()) == 1


@pytest.mark.slow
async def test_a_start_waits_for_whoever_holds_the_database(store: Store, tmp_path: Path) -> None:
    """A service that gave up would be started ten times by its manager, and then never again."""
    begun, holding = threading.Event(), threading.Event()

    async def hold(_: Transaction) -> None:
        begun.set()
        assert holding.wait(LIMIT)

    await add_task(store)
    writing = asyncio.create_task(store.write(hold))
    assert await asyncio.to_thread(begun.wait, LIMIT)
    opening = asyncio.create_task(Store.open(tmp_path, patience=LIMIT))
    await asyncio.wait({opening}, timeout=0.5)
    assert not opening.done()
    holding.set()
    await writing
    async with asyncio.timeout(LIMIT):
        await (await opening).close()


def test_the_directory_is_owned_on_a_full_disk(little_disk: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        fill(little_disk / "ballast")
    with DataDirectory(little_disk), pytest.raises(DirectoryInUse), DataDirectory(little_disk):
        pass


@pytest.mark.slow
async def test_patience_has_an_end(store: Store) -> None:
    await pages(store, 1)
    with pytest.raises(StoreAway):
        await store.write(much, patience=0.3)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another connection holds the file, as another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_a_locked_database_is_waited_for_and_nobody_queues_up(store: Store, tmp_path: Path) -> None:
    """Seen failing without the short time-out while there is trouble: three writers wait 15 s each."""
    await pages(store, 1)
    with pytest.raises(StoreAway):
        await store.write(much)
    await pages(store, PLENTY)
    with held(tmp_path / DATABASE_NAME):
        async with asyncio.timeout(LIMIT):
            results = await asyncio.gather(*(add_task(store, str(n)) for n in range(3)), return_exceptions=True)
        assert {type(result) for result in results} == {StoreAway}
        assert "locked" in await store.trouble()
    await add_task(store, "2")
    assert await store.trouble() == ""


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[SQLiteCheckpoints]:
    async with open_checkpoints(tmp_path) as opened:
        yield opened


async def put(saver: SQLiteCheckpoints, letters: int) -> None:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"text": "x" * letters}
    await saver.aput({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, checkpoint, {"step": 1}, {})


async def test_a_full_disk_stops_the_graph_until_there_is_room(saver: SQLiteCheckpoints) -> None:
    """Seen failing with AsyncSqliteSaver's own `aput`: SQLite's error ends the task as a fault of the program."""
    await put(saver, 10)
    await saver.conn.execute_fetchall("PRAGMA max_page_count = 1")
    putting = asyncio.create_task(put(saver, 200_000))
    async with asyncio.timeout(LIMIT):
        while not saver.trouble:
            await asyncio.sleep(0)
    assert saver.trouble == "database or disk is full"
    await saver.conn.execute_fetchall(f"PRAGMA max_page_count = {PLENTY}")
    async with asyncio.timeout(LIMIT):
        await putting
    assert saver.trouble == ""


async def test_checkpoints_that_nobody_writes_any_more_are_looked_at(saver: SQLiteCheckpoints) -> None:
    """The task that could not be kept has ended: nobody else would find out that there is room again."""
    await put(saver, 10)
    await saver.conn.execute_fetchall("PRAGMA max_page_count = 1")
    putting = asyncio.create_task(put(saver, 200_000))
    async with asyncio.timeout(LIMIT):
        while not saver.trouble:
            await asyncio.sleep(0)
    putting.cancel()
    await asyncio.wait({putting})
    await saver.probe()
    assert saver.trouble
    await saver.conn.execute_fetchall(f"PRAGMA max_page_count = {PLENTY}")
    await saver.probe()
    assert not saver.trouble
    assert await saver.conn.execute_fetchall("SELECT 1 FROM checkpoints WHERE thread_id = 'probe'") == []


async def test_locked_checkpoints_are_waited_for(saver: SQLiteCheckpoints, tmp_path: Path) -> None:
    await put(saver, 10)
    await saver.conn.execute_fetchall("PRAGMA busy_timeout = 50")
    with held(tmp_path / CHECKPOINTS_NAME):
        putting = asyncio.create_task(put(saver, 10))
        async with asyncio.timeout(LIMIT):
            while not saver.trouble:
                await asyncio.sleep(0)
    async with asyncio.timeout(LIMIT):
        await putting


@pytest.fixture
def little_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte. Mounting one takes rights that not every machine gives."""
    libc = ctypes.CDLL(None, use_errno=True)
    target = tmp_path / "disk"
    target.mkdir()
    if libc.mount(b"tmpfs", os.fsencode(target), b"tmpfs", 0, b"size=1m,mode=700") != 0:
        pytest.skip(f"a disk cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    try:
        yield target
    finally:
        libc.umount2(os.fsencode(target), 2)


def kept_in(disk: Path) -> list[str]:
    return [path.name for path in disk.glob("frames/*/*")]


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


async def test_pictures_wait_for_room_on_a_real_disk(little_disk: Path) -> None:
    frames = FrameFiles(little_disk / "frames", lambda: 0.0)
    first = await frames.save(os.urandom(600_000), suffix="jpg")
    with pytest.raises(StoreAway, match="No space left"):
        await frames.save(os.urandom(600_000), suffix="jpg")
    assert kept_in(little_disk) == [first], "nothing half written is left"
    saving = asyncio.create_task(frames.patient().save(os.urandom(600_000), suffix="jpg"))
    await asyncio.sleep(0)
    (little_disk / "frames" / first[:2] / first).unlink()
    async with asyncio.timeout(LIMIT):
        assert await frames.load(await saving)


async def test_a_store_on_a_real_full_disk(little_disk: Path) -> None:
    store = await Store.open(little_disk)
    ballast = little_disk / "ballast"
    with pytest.raises(OSError, match="No space left"):
        fill(ballast)
    with pytest.raises(StoreAway, match="full"):
        await store.write(much)
    assert await store.trouble() == "database or disk is full"
    ballast.unlink()
    assert await store.trouble() == ""
    await store.write(much)
    await store.close()
