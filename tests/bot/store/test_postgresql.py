"""What PostgreSQL alone can do to a record: servers that go away, transactions that meet, and copies."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from pydantic import SecretStr

from agent.run import RunId
from bot.checks.files import findings
from bot.checks.settings import in_force
from bot.config.settings import Settings
from bot.domain.address import Person, Place
from bot.domain.right import Grant, Right
from bot.domain.schedule import Plan, Rule, RuleKind
from bot.domain.task_request import TaskDraft
from bot.store.database import Database, Transaction
from bot.store.errors import StoreAway, StoreConflict, StoreError, StoreLost, StoreTooNew, StoreTooOld, StoreUnsure
from bot.store.postgresql.checkpoints import open_checkpoints as open_in_server
from bot.store.postgresql.copying import THREADS, copy_in, copy_out
from bot.store.postgresql.database import PostgresDatabase
from bot.store.postgresql.schema import migrations
from bot.store.postgresql.server import STATEMENT_S
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import Store, open_checkpoints
from bot.store.tables import metadata
from bot.wiring.core import StoppedEarly, open_core
from tests.bot.store.conftest import ANNA, HERE, add_task
from tests.failover.valve import Valve
from tests.fixtures.postgresql import PostgresServer, rows_of, run_in, run_on

pytestmark = pytest.mark.slow

WAIT_S = 30.0
NEXT = "ALTER TABLE refusals ADD more text"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    made = PostgresServer()
    yield made
    made.remove()


NUMBERS = count(1)


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    name = f"record{next(NUMBERS)}"
    run_on(server.url, f"CREATE DATABASE {name}")
    yield f"{server.url}/{name}"
    run_on(server.url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(url: str) -> AsyncIterator[PostgresDatabase]:
    opened = await PostgresDatabase.open(url)
    yield opened
    await opened.close()


async def number_of(database: Database, table: str) -> int:
    return int((await database.fetch(f"SELECT count(*) FROM {table}"))[0][0])


async def add_row(transaction: Transaction) -> None:
    await transaction.fetch("INSERT INTO refusals (platform, kind, day, count) VALUES ('a', 'b', 'c', 1)")


async def test_letters_are_folded_as_python_does_it(database: PostgresDatabase) -> None:
    """Those that `lower` would fold otherwise among them: ß, the sigma at the end of a word, ligatures, Cherokee."""
    special = [chr(code) for code in range(1, sys.maxunicode) if chr(code).casefold() != chr(code).lower()]
    wanted = [*special, *(f"A{letter}b ΣΑΣ {letter}" for letter in special), "Straße ΜΆΪΟΣ İstanbul ﬁne 你好 ÉCOLE"]
    for text in wanted:
        assert (await database.fetch("SELECT folded(%(text)s)", {"text": text}))[0][0] == text.casefold()


async def test_the_tables_of_others_are_left_alone(url: str) -> None:
    run_in(url, "CREATE TABLE customers (name text)")
    with pytest.raises(StoreTooOld, match="another program"):
        await PostgresDatabase.open(url)
    assert rows_of(url, "SELECT count(*) FROM pg_class WHERE relname = 'tasks'") == [(0,)]


async def test_a_later_version_is_left_alone(url: str) -> None:
    await (await PostgresDatabase.open(url)).close()
    run_in(url, "UPDATE opengui_schema SET version = 99")
    with pytest.raises(StoreTooNew, match="99"):
        await PostgresDatabase.open(url)


async def test_two_that_begin_at_once_make_one_schema(url: str) -> None:
    opened = await asyncio.gather(*(PostgresDatabase.open(url) for _ in range(4)))
    for each in opened:
        await each.close()
    assert rows_of(url, "SELECT count(*), max(version) FROM opengui_schema") == [(1, 1)]


async def test_a_next_schema_comes_whole_or_not_at_all(url: str) -> None:
    await (await PostgresDatabase.open(url)).close()
    with pytest.raises(StoreError):
        await PostgresDatabase.open(url, (*migrations(), (2, f"{NEXT}; DROP TABLE no_such;")))
    opened = await PostgresDatabase.open(url, (*migrations(), (2, NEXT)))
    await opened.write(add_row)
    assert [row["more"] for row in await opened.fetch("SELECT more FROM refusals")] == [None]
    await opened.close()


LATER = (
    "CREATE TABLE later (id bigint PRIMARY KEY)",
    "INSERT INTO later SELECT id FROM tasks",
    "ALTER TABLE refusals ADD more text",
    "UPDATE refusals SET more = kind",
    "CREATE INDEX refusals_more ON refusals (more)",
)
"""A made-up next schema."""


@pytest.mark.parametrize("killed", range(len(LATER) + 1))
async def test_one_that_is_killed_at_a_statement_of_a_next_schema_begins_it_again(url: str, killed: int) -> None:
    """Its connection is gone, as with its process: before the first statement, between two, or behind the last."""
    first = await PostgresDatabase.open(url)
    await first.write(add_row)
    await first.close()
    dies = [*LATER[:killed], "SELECT pg_terminate_backend(pg_backend_pid())", *LATER[killed:]]
    with pytest.raises(StoreAway):
        await PostgresDatabase.open(url, (*migrations(), (2, ";".join(dies))))
    assert rows_of(url, "SELECT version, to_regclass('later') FROM opengui_schema") == [(1, None)]
    opened = await PostgresDatabase.open(url, (*migrations(), (2, ";".join(LATER))))
    assert [row["more"] for row in await opened.fetch("SELECT more FROM refusals")] == ["b"]
    await opened.close()
    assert rows_of(url, "SELECT version FROM opengui_schema") == [(2,)]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://[::1",
        "postgresql://a:secret@host/db?no_such_option=1",
        "postgresql://a:half/secret@host/db",
        "postgresql://a:half@secret@host/db",
        "postgresql://a:secret/1@host/db",
    ],
)
async def test_an_address_that_is_none_is_not_repeated(address: str) -> None:
    with pytest.raises(StoreError) as refused:
        await PostgresDatabase.open(address)
    assert "secret" not in str(refused.value)


async def test_a_wrong_password_is_said_without_it(server: PostgresServer, url: str) -> None:
    run_on(server.url, "CREATE ROLE somebody LOGIN")
    wrong = url.replace("opengui@", "nobody_there:hunter2@")
    with pytest.raises(StoreAway, match="nobody_there") as refused:
        await PostgresDatabase.open(wrong)
    assert "hunter2" not in str(refused.value)


async def test_a_broken_constraint_takes_the_whole_transaction_back(database: PostgresDatabase) -> None:
    async def twice(transaction: Transaction) -> None:
        await add_row(transaction)
        await add_row(transaction)

    with pytest.raises(StoreConflict):
        await database.write(twice)
    await database.write(add_row)
    assert await number_of(database, "refusals") == 1


async def test_a_caller_that_goes_away_leaves_the_transaction_whole(database: PostgresDatabase) -> None:
    writing = asyncio.ensure_future(database.write(add_row))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait({writing})
    await database.write(lambda transaction: transaction.fetch("SELECT 1"))  # behind the one that was left
    assert await number_of(database, "refusals") == 1


def change(server: PostgresServer, name: str, how: str) -> None:
    """Alter a database; its connections are made anew."""
    run_on(server.url, f"ALTER DATABASE {name} {how}")
    run_on(server.url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


async def test_one_that_cannot_be_written_to_is_waited_for_and_said(
    server: PostgresServer, database: PostgresDatabase, url: str
) -> None:
    name = url.rpartition("/")[2]
    change(server, name, "SET default_transaction_read_only = on")
    with pytest.raises(StoreAway, match="read-only"):
        await database.write(add_row)
    assert "read-only" in database.trouble
    waiting = asyncio.ensure_future(database.write(add_row, patience=WAIT_S))
    change(server, name, "RESET default_transaction_read_only")
    async with asyncio.timeout(WAIT_S):
        await waiting
    assert database.trouble == ""
    assert await number_of(database, "refusals") == 1


async def test_a_server_that_goes_away_is_waited_for(server: PostgresServer, database: PostgresDatabase) -> None:
    """Stopped as by a crash, with connections open; what is written meanwhile is there once."""
    await database.fetch("SELECT 1")
    server.stop("immediate")
    try:
        waiting = asyncio.ensure_future(database.write(add_row, patience=WAIT_S))
        with pytest.raises(StoreAway):
            await database.fetch("SELECT 1")
    finally:
        await asyncio.to_thread(server.start)
    async with asyncio.timeout(WAIT_S):
        await waiting
    assert await number_of(database, "refusals") == 1


async def test_one_service_owns_a_record_until_it_ends(url: str) -> None:
    first = await PostgresDatabase.open(url, owns=True)
    with pytest.raises(StoreAway, match="another service"):
        await PostgresDatabase.open(url, owns=True)
    waiting = asyncio.ensure_future(PostgresDatabase.open(url, owns=True, patience=WAIT_S))
    await first.write(add_row)
    assert not waiting.done()
    await first.close()
    async with asyncio.timeout(WAIT_S):
        second = await waiting
    assert await number_of(second, "refusals") == 1
    await second.close()


async def test_one_that_was_cut_off_writes_nothing_beside_its_successor(server: PostgresServer, url: str) -> None:
    """Seen failing where a new connection did not ask for the record: both wrote; and where the second did not wait:
    the first was sure of the record still. What it knows is old once another one has had the record, so it never has it
    again.
    """
    lost: list[str] = []
    first = await PostgresDatabase.open(url, owns=True, when_lost=lambda: lost.append("lost"))
    opening = asyncio.ensure_future(PostgresDatabase.open(url, owns=True, patience=WAIT_S))
    await cut(server, waited_for=True)
    with pytest.raises(StoreError):
        await first.write(add_row)
    second = await opening
    assert not first.is_ours
    await second.write(add_row)
    await second.close()
    with pytest.raises(StoreLost):
        await first.write(add_row, patience=WAIT_S)
    assert await number_of(first, "refusals") == 1
    assert lost
    await first.close()


async def test_one_that_was_cut_off_and_had_no_successor_goes_on(server: PostgresServer, url: str) -> None:
    database = await PostgresDatabase.open(url, owns=True)
    await cut(server)
    await database.write(add_row, patience=WAIT_S)
    assert await number_of(database, "refusals") == 1
    await database.close()


async def test_one_that_is_cut_off_is_sure_of_nothing_before_another_one_acts(
    server: PostgresServer, url: str, tmp_path: Path
) -> None:
    """Nothing ends its connection but the silence. Seen failing without `idle_session_timeout`."""
    lost = asyncio.Event()
    loop = asyncio.get_running_loop()

    def when_lost() -> None:
        loop.call_soon_threadsafe(lost.set)

    def is_ours(database: PostgresDatabase) -> bool:
        return database.is_ours

    async with Valve(server.port).standing() as valve:
        theirs = url.replace(f":{server.port}", f":{valve.port}")
        first = await PostgresDatabase.open(theirs, owns=True, files=["skills/tea"], when_lost=when_lost)
        told: list[str] = []
        opening = asyncio.ensure_future(PostgresDatabase.open(url, owns=True, stand_by=told.append))
        async with asyncio.timeout(WAIT_S):
            while not told:
                await asyncio.sleep(0.01)
        assert told[0]
        assert is_ours(first)
        lacks = [each.text for each in await findings(Settings(data_dir=tmp_path, database_url=SecretStr(url)))]
        assert any("skills/tea" in text for text in lacks)
        valve.shut()
        async with asyncio.timeout(15):
            while not opening.done():
                was_sure = first.is_ours
                await asyncio.sleep(0.01)
            second = await opening
        assert not was_sure
        assert is_ours(second)
        valve.open()
        async with asyncio.timeout(WAIT_S):
            await lost.wait()
        assert not is_ours(first)
        await second.close()
        await first.close()


async def test_a_long_statement_of_one_that_is_cut_off_does_not_hold_the_record(
    server: PostgresServer, url: str
) -> None:
    """The server works at it, and notices nothing meanwhile. Seen failing with half a minute for each statement; one
    that makes the schema may take as long as it needs.
    """

    async def long_one(transaction: Transaction) -> None:
        await transaction.fetch("SELECT pg_sleep(60)")

    slow = (2, f"SELECT pg_sleep({STATEMENT_S + 1}); {NEXT}")
    async with Valve(server.port).standing() as valve:
        theirs = url.replace(f":{server.port}", f":{valve.port}")
        first = await PostgresDatabase.open(theirs, (*migrations(), slow), owns=True, when_lost=lambda: None)
        writing = asyncio.ensure_future(first.write(long_one))
        async with asyncio.timeout(WAIT_S):
            while not rows_of(url, "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query ~ '^SELECT pg_sl'"):
                await asyncio.sleep(0.01)
        valve.shut()
        async with asyncio.timeout(14):
            second = await PostgresDatabase.open(
                url, (*migrations(), slow), owns=True, stand_by=lambda _: None, patience=WAIT_S
            )
        await second.write(add_row)
        await second.close()
        valve.open()
        with pytest.raises(StoreError):
            await writing
        await first.close()


async def cut(server: PostgresServer, *, waited_for: bool = False) -> None:
    """End the connection that owns a record; when it is `waited_for`, so that it has not got it back before."""
    async with asyncio.timeout(WAIT_S):
        while waited_for and not rows_of(server.url + "/postgres", "SELECT 1 FROM pg_locks WHERE NOT granted"):
            await asyncio.sleep(0.01)
    run_on(server.url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")


async def test_checkpoints_stop_with_the_record(server: PostgresServer, url: str) -> None:
    """Seen failing with connections that were only looked at whether they work: both kept checkpoints of one thread."""
    config: RunnableConfig = {"configurable": {"thread_id": "task:1", "checkpoint_ns": ""}}
    first = await PostgresDatabase.open(url, owns=True)
    async with open_checkpoints(Path(), url, owns=True) as saver:
        await saver.aput(config, empty_checkpoint(), {"source": "input", "step": 1}, {})
        with psycopg.connect(url, autocommit=True) as other:
            lock = "SELECT pg_advisory_lock(20295, hashtext(current_schema()))"
            waiting = asyncio.ensure_future(asyncio.to_thread(other.execute, lock))
            await cut(server, waited_for=True)
            await waiting
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1.0):
                    await saver.aget_tuple(config)
        await first.write(add_row, patience=WAIT_S)  # it has the record again
        assert await saver.aget_tuple(config) is not None
    await first.close()


async def test_a_service_that_waits_for_its_record_can_be_stopped(url: str, tmp_path: Path) -> None:
    """Seen failing where only an open service was stopped: it went on waiting for ten minutes."""
    owner = await PostgresDatabase.open(url, owns=True)
    settings = Settings(data_dir=tmp_path / "data", database_url=SecretStr(url), virtual_phones=0)
    stopping = asyncio.Event()

    async def start() -> None:
        async with open_core(settings, (), stopping=stopping):
            pass

    starting = asyncio.ensure_future(start())
    async with asyncio.timeout(WAIT_S):
        while not (tmp_path / "data" / "lock").exists():
            await asyncio.sleep(0)
        stopping.set()
        with pytest.raises(StoppedEarly):
            await starting
        await owner.close()
        stopping.clear()
        await start()


async def test_doctor_looks_at_the_server(url: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, database_url=SecretStr(url))
    assert (await in_force(settings))[1] == []
    store = await Store.open(tmp_path, url=url)
    await store.write(lambda transaction: store.changes.keep(transaction, "max_steps", "7", ANNA))
    await store.close()
    assert (await in_force(settings))[0].max_steps == 7
    assert [each.verdict for each in await findings(settings)][-1] == "good"
    away = settings.model_copy(update={"database_url": SecretStr(url.replace("127.0.0.1", "127.0.0.2"))})
    assert [each.verdict for each in await findings(away)][-1] == "bad"


class Cutter:
    """A way to the server that is cut at the next COMMIT once it is armed. The server gets that or not; its answer is
    lost. `refuses` is whether nobody is let through, which begins with the cut if `stays_shut`.
    """

    def __init__(
        self,
        server: PostgresServer,
        *,
        reaches: bool,
        instead: Callable[[], None] = lambda: None,
        stays_shut: bool = False,
    ) -> None:
        self._server = server
        self._reaches = reaches
        self._instead = instead
        self._stays_shut = stays_shut
        self.refuses = False
        self._ways: set[asyncio.Task[None]] = set()
        self.armed = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        async with listening:
            yield listening.sockets[0].getsockname()[1]
        await asyncio.gather(*self._ways)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ways.add(asyncio.ensure_future(self._relay(reader, writer)))

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):  # the server ends, or is not there
            if self.refuses:
                raise ConnectionError
            theirs, ours = await asyncio.open_connection("127.0.0.1", self._server.port)
            await self._between(reader, writer, theirs, ours)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _between(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        theirs: asyncio.StreamReader,
        ours: asyncio.StreamWriter,
    ) -> None:
        is_cut = False

        async def back() -> None:
            with suppress(ConnectionError):
                while (data := await theirs.read(65_536)) and not is_cut:
                    writer.write(data)
            if is_cut and self._reaches:  # the server has answered, so it has committed
                await asyncio.to_thread(self._instead)
            if self._reaches or not is_cut:
                writer.close()

        answering = asyncio.ensure_future(back())
        while data := await reader.read(65_536):
            if b"COMMIT" in data and self.armed:
                self.armed, is_cut, self.refuses = False, True, self._stays_shut
                if not self._reaches:
                    await asyncio.to_thread(self._instead)
                    writer.close()
                    break
            ours.write(data)
        ours.close()
        await answering
        await asyncio.gather(ours.wait_closed(), writer.wait_closed(), return_exceptions=True)


async def test_one_character_is_replaced_and_nothing_breaks(database: PostgresDatabase) -> None:
    """Also where JSON has written it; a backslash before it is one of the text."""
    for text, kept in (
        ("a\0b", "a\ufffdb"),
        (json.dumps(["a\0b"]), json.dumps(["a\ufffdb"])),
        (json.dumps(["\\u0000"]), json.dumps(["\\u0000"])),
    ):
        found = await database.fetch("SELECT CAST(%(text)s AS text)", {"text": text})
        assert found[0][0] == kept
    words = json.dumps(["a\0b"])
    found = await database.fetch("SELECT * FROM json_array_elements_text(%(words)s::json)", {"words": words})
    assert found[0][0] == "a\ufffdb"


async def test_texts_are_sorted_as_sqlite_does_it(database: PostgresDatabase) -> None:
    """Whatever the language of the server: ranges of names are found by it."""
    kept = await database.fetch(
        "SELECT DISTINCT collation_name FROM information_schema.columns"
        " WHERE table_name IN ('tasks', 'actions') AND data_type = 'text'"
    )
    assert [row[0] for row in kept] == ["C"]


async def test_a_schema_that_is_missing_is_named(url: str) -> None:
    with pytest.raises(StoreError, match="CREATE SCHEMA") as refused:
        await PostgresDatabase.open(f"{url}?options=-csearch_path%3Dnowhere", owns=True)
    assert not isinstance(refused.value, StoreAway)


async def test_reading_for_a_task_waits_for_the_server(server: PostgresServer, url: str, tmp_path: Path) -> None:
    """Seen failing without patience: what was asked of memory in an outage ended the task."""
    store = await Store.open(tmp_path, url=url)
    await store.memory().remember("web:1", "prefers a window seat")
    server.stop("immediate")
    try:
        asking = asyncio.ensure_future(store.memory().recall("web:1", "a window seat"))
        await asyncio.sleep(0)
    finally:
        await asyncio.to_thread(server.start)
    async with asyncio.timeout(WAIT_S):
        assert [fact.text for fact in await asking] == ["prefers a window seat"]
    await store.close()


@pytest.mark.parametrize("reaches", [True, False])
async def test_an_answer_that_is_lost_doubles_nothing(server: PostgresServer, url: str, reaches: bool) -> None:
    """Seen failing without the look at what became of the transaction: the row was written twice."""
    done: list[str] = []

    async def work(transaction: Transaction) -> str:
        await transaction.fetch(
            "INSERT INTO refusals (platform, kind, day, count) VALUES ('a', 'b', gen_random_uuid()::text, 1)"
        )
        transaction.on_commit.append(lambda: done.append("committed"))
        return "result"

    await (await PostgresDatabase.open(url)).close()
    cutter = Cutter(server, reaches=reaches)
    async with cutter.open() as port:
        database = await PostgresDatabase.open(url.replace(f":{server.port}", f":{port}"), owns=True)
        cutter.armed = True
        try:
            async with asyncio.timeout(WAIT_S):
                assert await database.write(work, patience=WAIT_S) == "result"
            assert await number_of(database, "refusals") == 1
            assert (done, cutter.armed) == (["committed"], False)
        finally:
            await database.close()


async def test_a_crash_in_a_commit_loses_nothing(server: PostgresServer, url: str) -> None:
    """The server gives the transaction's number to another one then, and that is committed. Seen failing where the
    number's state was asked for: what was lost was taken for done.
    """
    numbers: list[int] = []
    again: list[tuple[str]] = []

    async def work(transaction: Transaction) -> None:
        numbers.append(int((await transaction.fetch("SELECT pg_current_xact_id()::text"))[0][0]))
        await add_row(transaction)

    def crash() -> None:
        server.stop("immediate")
        server.start()
        with psycopg.connect(f"{server.url}/postgres", autocommit=True) as other:
            other.execute("CREATE TABLE others (number int)")
            while (
                other.execute("INSERT INTO others VALUES (1) RETURNING xmin::text::int").fetchall()[0][0] < numbers[0]
            ):
                pass
            again.extend(other.execute(f"SELECT pg_xact_status('{numbers[0]}'::xid8)".encode()).fetchall())
            other.execute("DROP TABLE others")

    await (await PostgresDatabase.open(url)).close()
    cutter = Cutter(server, reaches=False, instead=crash)
    async with cutter.open() as port:
        database = await PostgresDatabase.open(url.replace(f":{server.port}", f":{port}"), owns=True)
        cutter.armed = True
        try:
            async with asyncio.timeout(WAIT_S):
                await database.write(work, patience=WAIT_S)
            assert again == [("committed",)]
            assert await number_of(database, "refusals") == 1
        finally:
            await database.close()


def adds(text: str, done: list[str]) -> Callable[[Transaction], Awaitable[str]]:
    """Work that writes one row more each time it is committed, and returns `text`."""

    async def work(transaction: Transaction) -> str:
        row = f"INSERT INTO refusals (platform, kind, day, count) VALUES ('{text}', '', gen_random_uuid()::text, 1)"
        await transaction.fetch(row)
        transaction.on_commit.append(lambda: done.append(text))
        return text

    return work


@pytest.mark.parametrize("reaches", [True, False])
@pytest.mark.parametrize("stays", [True, False])
async def test_what_became_of_a_commit_is_settled_before_another_one_writes(
    server: PostgresServer, url: str, reaches: bool, stays: bool
) -> None:
    """The server is restarted in the moment of a COMMIT, and another writer comes before the one that waits, or has
    gone. Seen failing where the one that waited looked by itself: what was lost passed for done, and what was done was
    done again.
    """

    def crash() -> None:
        server.stop("immediate")
        server.start()

    await (await PostgresDatabase.open(url)).close()
    cutter = Cutter(server, reaches=reaches, instead=crash, stays_shut=True)
    done: list[str] = []
    async with cutter.open() as port:
        database = await PostgresDatabase.open(url.replace(f":{server.port}", f":{port}"), owns=True)
        cutter.armed = True
        try:
            async with asyncio.timeout(WAIT_S):
                waiting = asyncio.ensure_future(database.write(adds("waits", done), patience=WAIT_S))
                while not database.trouble:
                    await asyncio.sleep(0)
                if not stays:
                    waiting.cancel()
                cutter.refuses = False
                assert await database.write(adds("comes first", done)) == "comes first"
                if stays:
                    assert await waiting == "waits"
            rows = await database.fetch("SELECT platform FROM refusals ORDER BY platform")
            is_there = stays or reaches
            assert [row[0] for row in rows] == ["comes first", "waits"][: 1 + is_there]
            assert done == (["waits", "comes first"] if reaches else ["comes first", "waits"][: 1 + is_there])
        finally:
            await database.close()


@pytest.mark.parametrize("reaches", [True, False])
async def test_who_does_not_wait_hears_that_a_commit_is_not_known(
    server: PostgresServer, url: str, reaches: bool
) -> None:
    """The server is away right after a COMMIT was sent. Seen failing where it was said to be away and no more: what was
    stored passed for not done.
    """
    await (await PostgresDatabase.open(url)).close()
    cutter = Cutter(server, reaches=reaches, stays_shut=True)
    done: list[str] = []
    async with cutter.open() as port:
        database = await PostgresDatabase.open(url.replace(f":{server.port}", f":{port}"), owns=True)
        try:
            cutter.armed = True
            with pytest.raises(StoreUnsure):
                await database.write(adds("unknown", done))
            with pytest.raises(StoreAway) as away:
                await database.write(adds("not done", done))
            assert not isinstance(away.value, StoreUnsure)
            cutter.refuses = False
            await database.write(adds("after it", done))
            rows = await database.fetch("SELECT platform FROM refusals ORDER BY platform")
            assert [row[0] for row in rows] == ["after it"] + ["unknown"] * reaches
            assert done == ["unknown"] * reaches + ["after it"]
        finally:
            await database.close()


async def test_a_commit_that_the_server_refused_is_not_taken_for_that_of_another_one(url: str) -> None:
    """Its disk is full, for one. Seen failing where only a lost connection was thought of: it passed for done."""
    database = await PostgresDatabase.open(url, owns=True)
    run_in(
        url,
        """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END$$""",
        """CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON refusals DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.platform = 'waits') EXECUTE FUNCTION refuse()""",
    )
    done: list[str] = []
    async with asyncio.timeout(WAIT_S):
        waiting = asyncio.ensure_future(database.write(adds("waits", done), patience=WAIT_S))
        while not database.trouble:
            await asyncio.sleep(0)
        await database.write(adds("comes first", done))
        await asyncio.to_thread(run_in, url, "DROP TRIGGER refused ON refusals")
        assert await waiting == "waits"
    assert await number_of(database, "refusals") == 2
    assert done == ["comes first", "waits"]
    await database.close()


async def test_a_record_goes_there_and_back_whole(tmp_path: Path, url: str) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    await fill(here)
    counts = await copy_in(here, url)
    assert counts["tasks"] == 20
    assert counts[THREADS] == 3
    with pytest.raises(StoreError, match="already has a record"):
        await copy_in(here, url)
    # A thread of a task that the copy does not have, whose number is given anew; and one that is newer than the copy's.
    async with open_in_server(url) as saver:
        for thread in ("task:22", "task:1"):
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"words": "of another record"}
            which: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
            await saver.aput(which, checkpoint, {"source": "input", "step": 1}, {"words": "9"})
    await copy_in(here, url, replaces=True)
    async with open_in_server(url) as saver:
        assert await saver.aget_tuple({"configurable": {"thread_id": "task:22", "checkpoint_ns": ""}}) is None
    # Numbers go on where they were, also where the last row has gone.
    store = await Store.open(tmp_path, url=url)
    assert (await add_task(store, "new")).id == "22"
    await store.close()
    await copy_in(here, url, replaces=True)
    assert await copy_out(url, there) == counts
    with closing(sqlite3.connect(here / DATABASE_NAME)) as one, closing(sqlite3.connect(there / DATABASE_NAME)) as two:
        for table in [each.name for each in metadata.sorted_tables] + ["sqlite_sequence"]:
            ours, theirs = (sorted(each.execute(f"SELECT * FROM {table}").fetchall()) for each in (one, two))
            assert ours == theirs, table
    again = await Store.open(there)
    assert (await add_task(again, "new")).id == "22"
    assert [fact.text for fact in await again.memory().recall("web:1", "a window seat")] == ["prefers a window seat"]
    await again.close()
    async with open_checkpoints(there) as saver:
        kept = await saver.aget_tuple({"configurable": {"thread_id": "task:1", "checkpoint_ns": ""}})
        assert kept is not None
        assert kept.checkpoint["channel_values"] == {"words": "你好", "list": [1, 2]}
        assert kept.pending_writes == [("t", "__interrupt__", "Which one?")]


async def fill(directory: Path) -> None:
    """A record with something in most tables."""
    store = await Store.open(directory, clock=lambda: 1_000.0)
    tasks = [await add_task(store, str(number)) for number in range(21)]
    await store.write(lambda transaction: store.grants.give(transaction, Grant("web", "2", Right.USE)))
    await store.memory().remember("web:1", "prefers a window seat")
    lease = await store.leases.take(RunId(tasks[0].id), "phone", alive=(), now=100.0, expires=200.0)
    assert lease is not None
    plan = Plan(ANNA, Place(HERE), "e", Rule(RuleKind.EVERY, "3600", "UTC"), "every hour", TaskDraft("look"))
    await store.schedules.add(plan, now=1.0, due=2.0)
    await store.write(lambda transaction: store.links.join(transaction, ANNA, Person("telegram", "1", "A")))
    await store.write(lambda transaction: transaction.fetch("DELETE FROM events WHERE event = '20'"))
    await store.write(lambda transaction: transaction.fetch("DELETE FROM tasks WHERE id = 21"))
    await store.close()
    async with open_checkpoints(directory) as saver:
        for thread in ("task:1", "run:1-1", "member:1:x"):
            for step in range(3):
                checkpoint = empty_checkpoint()
                checkpoint["channel_values"] = {"words": "你好", "list": [1, step]}
                checkpoint["channel_versions"] = {"words": f"{step}", "list": f"{step}"}
                kept = await saver.aput(
                    {"configurable": {"thread_id": thread, "checkpoint_ns": ""}},
                    checkpoint,
                    {"source": "loop", "step": step + 1},
                    checkpoint["channel_versions"],
                )
            await saver.aput_writes(kept, [("__interrupt__", "Which one?")], "t")
