"""The running service while the server of its record is away, refuses to write or lets nobody in: it says so, nothing
that was accepted is lost, nothing is acted twice, and it goes on by itself.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.end_to_end.brain import FINISH, call, tap
from tests.end_to_end.service import place_with
from tests.end_to_end.test_telegram import town
from tests.faults.service.test_running import finals, switched_on, then
from tests.fixtures.adb import AdbServer
from tests.fixtures.databases import ON_POSTGRESQL
from tests.fixtures.postgresql import PostgresServer, rows_of, run_in, run_on

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PATIENCE_S = 120.0
ROLE = "record_keeper"
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
FULL = """CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END$$"""


@dataclass
class Record:
    """A server with the database of a service, which comes as `ROLE` with a password."""

    server: PostgresServer = field(default_factory=PostgresServer)

    def __post_init__(self) -> None:
        self.server.wants_password(ROLE)
        run_on(self.server.url, f"CREATE ROLE {ROLE} LOGIN PASSWORD 'first'", f"CREATE DATABASE record OWNER {ROLE}")

    @property
    def url(self) -> str:
        return f"postgresql://{ROLE}:first@127.0.0.1:{self.server.port}/record"

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        return rows_of(f"{self.server.url}/record", statement)

    def run(self, *statements: str) -> None:
        run_in(f"{self.server.url}/record", *statements)

    def disconnect(self) -> None:
        run_on(self.server.url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{ROLE}'")

    def crash(self) -> None:
        self.server.stop("immediate")

    def start(self) -> None:
        self.server.start()

    def refuse_writes(self) -> None:
        run_on(self.server.url, "ALTER DATABASE record SET default_transaction_read_only = on")
        self.disconnect()

    def allow_writes(self) -> None:
        run_on(self.server.url, "ALTER DATABASE record RESET default_transaction_read_only")
        self.disconnect()

    def fill(self) -> None:
        tables = [
            f'CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON "{name}" EXECUTE FUNCTION no_room()'
            for (name,) in self.rows(TABLES)
        ]
        self.run(FULL, *tables)

    def make_room(self) -> None:
        self.run("DROP FUNCTION no_room() CASCADE")

    def change_password(self) -> None:
        self.run(f"ALTER ROLE {ROLE} PASSWORD 'second'")
        self.disconnect()

    def change_password_back(self) -> None:
        self.run(f"ALTER ROLE {ROLE} PASSWORD 'first'")


@dataclass(frozen=True)
class Outage:
    begin: Callable[[Record], None]
    end: Callable[[Record], None]
    seconds: float = 5.0
    answers: bool = True
    """Whether the server still answers those who are connected, so that chats stay so."""


OUTAGES = {
    "away": Outage(Record.crash, Record.start, answers=False),
    "away for long": Outage(Record.crash, Record.start, seconds=60.0, answers=False),
    "read-only": Outage(Record.refuse_writes, Record.allow_writes),
    "full": Outage(Record.fill, Record.make_room),
    "another password": Outage(Record.change_password, Record.change_password_back, answers=False),
}


@pytest.fixture
def record() -> Iterator[Record]:
    made = Record()
    yield made
    made.server.remove()


@pytest.mark.parametrize("name", OUTAGES)
async def test_an_outage_is_told_and_survived(adb_server: AdbServer, tmp_path: Path, record: Record, name: str) -> None:
    outage, begun = OUTAGES[name], asyncio.Event()

    def begin() -> None:
        outage.begin(record)
        begun.set()

    if outage.seconds > 10 and not ON_POSTGRESQL:
        pytest.skip("a minute: in make test-postgres")
    begins = then(begin, tap("Bluetooth"))
    acts = [call("open_app", name="Settings"), begins, FINISH, call("open_app", name="Settings"), tap("Wi-Fi"), FINISH]
    async with (
        place_with(adb_server, tmp_path, DATABASE_URL=record.url) as place,
        town(*acts) as here,
        place.service(**here.settings) as service,
    ):
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
        await begun.wait()
        if not outage.answers:
            # At once: the service does not know yet, so its chats are connected.
            await here.fake.say(here.alice, here.group, "/do switch Wi-Fi off")
        await service.waits_for("store", *(() if outage.answers else ("telegram",)))
        health = await service.health()
        assert not health["healthy"]
        assert "store" in health["wrong"]
        assert "first" not in str(health)
        assert not switched_on(place), "nothing is done that cannot be journalled before"
        code, told, _ = await place.opengui("doctor")
        assert code != 0
        assert "has been waiting for the store" in told
        if outage.answers:
            await here.fake.say(here.alice, here.group, "/tasks")
            assert "Work is on hold" in (await here.bot_says("Recent tasks", here.group)).text
            await here.fake.say(here.alice, here.group, "/do something else")
            await here.fake.wait_until(lambda: "was not handled" in service.log, timeout=PATIENCE_S)
        await asyncio.sleep(outage.seconds)
        assert not switched_on(place)
        await asyncio.to_thread(outage.end, record)
        accepted = 1 if outage.answers else 2
        await here.fake.wait_until(lambda: finals(here) == accepted, timeout=PATIENCE_S)
        await service.waits_for()
        assert switched_on(place)
        assert place.phone.truth.toggles["wifi"] == outage.answers
        assert "Traceback" not in service.log
        told = "\n".join(message.text for message in here.fake.from_bot(here.group))
        assert not [detail for detail in (ROLE, "127.0.0.1", str(record.server.port)) if detail in told + str(health)]
        assert record.rows("SELECT state, outcome FROM tasks") == [("ended", "succeeded")] * accepted
        receipts = Counter(entry.receipt for entry in place.phone.journal.inputs() if entry.receipt)
        assert set(receipts.values()) == {1}, "an action reached the phone twice"
