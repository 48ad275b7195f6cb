"""Data directories that a former version left at kill -9, one for each state in which a task can wait: it goes on."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tarfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

from bot.cli.remote import Remote, running_service
from tests.chaos.records import damage, rows, tasks
from tests.end_to_end.service import Place
from tests.fakes.model_server import ModelServer
from tests.fixtures.adb import AdbServer
from tests.fixtures.former.stories import NOTE, STORIES, a_phone, left_to_do

FORMER = Path(__file__).parents[1] / "fixtures" / "former"
LIMIT = 120.0
LONG_AGO = 1_600_000_000.0
"""Numbers in the database that are larger than this are Unix times."""
ANSWERS = {"ask": "blue", "approve": "allow", "secret": "246810", "take over": "done"}
MOST_ASKED = 3
"""As it was asked before, once anew because a later version may bind more to an approval than the former one had, and
once more where the first look of a new process words a field otherwise than the looks that follow.
"""


@dataclass
class Found:
    """What the service made of it. `asked` counts the answers that were given, by the kind of the question."""

    place: Place
    model: ModelServer
    receipts: list[str]
    at_start: tuple[str, ...] = ()
    asked: Counter[str] = field(default_factory=Counter)
    resumed: Counter[int] = field(default_factory=Counter)

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(task.state for task in tasks(self.place.data))

    async def go_on(self, remote: Remote) -> None:
        """Answer what is asked and resume what stands still, until all tasks have ended."""
        self.at_start = self.states
        answered: set[str] = set()
        async with asyncio.timeout(LIMIT):
            while set(self.states) != {"ended"}:
                for number, text in self._open():
                    kind = json.loads(text)["kind"]
                    if number not in answered and not await remote.answer(number, ANSWERS[kind]):
                        answered.add(number)
                        self.asked[kind] += 1
                        assert self.asked[kind] <= MOST_ASKED
                for task in tasks(self.place.data):
                    if task.state in {"paused", "interrupted"} and not self.resumed[task.number]:
                        self.resumed[task.number] += 1
                        await remote.command("resume", task=str(task.number))
                await asyncio.sleep(0.1)

    def _open(self) -> list[tuple[str, str]]:
        sql = "SELECT id, question FROM questions WHERE answer IS NULL AND expired = 0"
        return [(str(number), str(text)) for number, text in rows(self.place.data, sql)]

    def judge(self) -> None:
        """Everything succeeded, and nothing reached the phone twice, before the kill and after it taken together."""
        assert {task.outcome for task in tasks(self.place.data)} == {"succeeded"}
        assert damage(self.place.data) == []
        sent = self.receipts + [entry.receipt for entry in self.place.phone.journal.entries if entry.receipt]
        assert [receipt for receipt, times in Counter(sent).items() if times > 1] == []

    def taps(self) -> int:
        """How often the screen was touched since."""
        return sum("input tap" in entry.line for entry in self.place.phone.journal.entries if entry.receipt)


def brought_here(name: str, directory: Path) -> list[str]:
    """Unpack it, as if the service had been killed just now; the receipts of what the phone got before."""
    with tarfile.open(FORMER / f"{name.replace(' ', '-')}.tar.xz") as archive:
        archive.extractall(directory, filter="data")
    note = json.loads((directory / "note.json").read_text(encoding="utf-8"))
    passed = time.time() - note["made"]
    with closing(sqlite3.connect(directory / "data" / "opengui.sqlite3")) as database, database:
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            for column in [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[2] == "REAL"]:
                database.execute(
                    f"UPDATE {table} SET {column} = {column} + ? WHERE {column} > ?",
                    (passed, LONG_AGO),
                )
    receipts: list[str] = note["receipts"]
    return receipts


@asynccontextmanager
async def gone_on(adb_server: AdbServer, directory: Path, name: str) -> AsyncIterator[Found]:
    """The state that was left, after today's service has brought it to its end."""
    receipts = brought_here(name, directory)
    async with a_phone(directory / "phone.json") as phone, ModelServer(left_to_do(phone, name)) as model:
        await adb_server.connect(phone.address)
        place = Place(phone, adb_server, directory, {"VLM_BASE_URL": model.base_url, "VLM_MODEL": "a-model"})
        found = Found(place, model, receipts)
        try:
            assert found.states == STORIES[name].states
            async with place.service(), running_service(place.data) as remote:
                assert remote is not None
                await found.go_on(remote)
            found.judge()
            yield found
        finally:
            await adb_server.disconnect(phone.address)


def heard(found: Found, words: str) -> bool:
    return any(words in request.text for request in found.model.requests)


async def test_a_question(adb_server: AdbServer, tmp_path: Path) -> None:
    async with gone_on(adb_server, tmp_path, "ask") as found:
        assert (found.at_start, found.asked) == (("waiting",), {"ask": 1})
        assert heard(found, "blue")
        assert found.place.phone.truth.toggles["bluetooth"]


async def test_an_approval_is_acted_on_once(adb_server: AdbServer, tmp_path: Path) -> None:
    """At once, or after it was asked anew; lost or done twice it fails."""
    async with gone_on(adb_server, tmp_path, "approve") as found:
        assert found.at_start == ("waiting",)
        assert set(found.asked) == {"approve"}
        titles = [note.title for note in found.place.phone.truth.notes]
        assert NOTE.title not in titles
        assert titles == ["Groceries"]
        assert found.taps() == 1


async def test_a_secret(adb_server: AdbServer, tmp_path: Path) -> None:
    async with gone_on(adb_server, tmp_path, "secret") as found:
        assert found.at_start == ("waiting",)
        assert set(found.asked) == {"secret"}
        assert found.place.phone.truth.signed_in == "anna"
        assert not heard(found, ANSWERS["secret"])


async def test_a_take_over(adb_server: AdbServer, tmp_path: Path) -> None:
    async with gone_on(adb_server, tmp_path, "take-over") as found:
        assert (found.at_start, found.asked) == (("waiting",), {"take over": 1})
        assert found.place.phone.truth.toggles["bluetooth"]


async def test_a_paused_task_stays_paused_until_it_is_resumed(adb_server: AdbServer, tmp_path: Path) -> None:
    async with gone_on(adb_server, tmp_path, "paused") as found:
        assert (found.at_start, found.asked) == (("paused",), {})
        assert found.resumed == {1: 1}
        assert found.place.phone.truth.toggles["bluetooth"]


async def test_the_queue_goes_on(adb_server: AdbServer, tmp_path: Path) -> None:
    async with gone_on(adb_server, tmp_path, "queued") as found:
        assert (found.at_start, found.asked) == (("waiting", "queued"), {"ask": 1})
        assert not found.resumed
        assert len(found.states) == 2


async def test_what_was_at_work_is_interrupted_and_resumed(adb_server: AdbServer, tmp_path: Path) -> None:
    """The touch had reached the phone."""
    async with gone_on(adb_server, tmp_path, "working") as found:
        assert (found.at_start, found.asked) == (("interrupted",), {})
        assert found.resumed == {1: 1}
        assert found.place.phone.truth.toggles["bluetooth"]
        assert found.taps() == 0


async def test_the_second_part_of_a_plan(adb_server: AdbServer, tmp_path: Path) -> None:
    """Its past holds steps whose effects and notices are worded as they were then."""
    async with gone_on(adb_server, tmp_path, "second part") as found:
        assert (found.at_start, found.asked) == (("waiting",), {"ask": 1})
        assert found.place.phone.truth.toggles["bluetooth"]
        assert heard(found, "look around: succeeded")
        kept = rows(found.place.data, "SELECT effect FROM steps WHERE step = 2")
        assert "There is no element 99" in str(kept[0][0])


def test_there_is_one_for_each_state() -> None:
    assert {path.name.removesuffix(".tar.xz") for path in FORMER.glob("*.tar.xz")} == {
        name.replace(" ", "-") for name in STORIES
    }
    assert sum(path.stat().st_size for path in FORMER.glob("*.tar.xz")) < 1_000_000
