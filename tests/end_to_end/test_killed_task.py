"""The service is killed in each state in which a task can wait, and the next goes on: nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.cli.exits import ServiceGone
from bot.cli.remote import Remote, running_service, task_path
from bot.domain.task_request import TaskDraft
from tests.chaos.records import damage, rows, tasks
from tests.end_to_end.brain import brain
from tests.end_to_end.killed_task import NOTE, STORIES, Story, a_phone, left_to_do, mind
from tests.end_to_end.service import Place, Service
from tests.fakes.model_server import ModelServer
from tests.fixtures.adb import AdbServer

LIMIT = 120.0
ANSWERS = {"ask": "blue", "approve": "allow", "secret": "246810", "take over": "done"}
MOST_ASKED = 3
"""As it was asked before, and anew where the first look of a new process words a field otherwise than the looks that
follow.
"""


@dataclass
class Found:
    """What the second service made of it. `asked` counts the answers that were given, by the kind of the question."""

    place: Place
    model: ModelServer
    before: int
    """How many lines the phone had got before the kill."""
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
                for task_number, number, text in self._open():
                    kind = json.loads(text)["kind"]
                    if number not in answered and not await remote.answer(task_number, number, ANSWERS[kind]):
                        answered.add(number)
                        self.asked[kind] += 1
                        assert self.asked[kind] <= MOST_ASKED
                for task in tasks(self.place.data):
                    if task.state in {"paused", "interrupted"} and not self.resumed[task.number]:
                        self.resumed[task.number] += 1
                        await remote.send(f"{task_path(str(task.number))}/resume")
                await asyncio.sleep(0.1)

    def _open(self) -> list[tuple[str, str, str]]:
        sql = "SELECT task, id, question FROM questions WHERE answer IS NULL AND NOT expired"
        return [(str(task), str(number), str(text)) for task, number, text in rows(self.place.data, sql)]

    def judge(self) -> None:
        """Everything succeeded, and nothing reached the phone twice, before the kill and after it taken together."""
        assert {task.outcome for task in tasks(self.place.data)} == {"succeeded"}
        assert damage(self.place.data) == []
        sent = [entry.receipt for entry in self.place.phone.journal.entries if entry.receipt]
        assert [receipt for receipt, times in Counter(sent).items() if times > 1] == []

    def taps(self) -> int:
        """How often the screen was touched since."""
        later = self.place.phone.journal.entries[self.before :]
        return sum("input tap" in entry.line for entry in later if entry.receipt)


async def left_behind(place: Place, service: Service, story: Story) -> None:
    """The story up to its end, which is kill -9."""
    with contextlib.suppress(ServiceGone):
        async with running_service(place.data) as remote, asyncio.timeout(LIMIT):
            assert remote is not None
            async with aclosing(given(remote, story.task)) as lines, aclosing(given(remote, story.behind)) as others:
                await until(place, remote, story, lines)
                if story.behind:
                    await anext(line async for line in others if line["type"] == "waiting")
                await service.kill()


async def given(remote: Remote, text: str) -> AsyncGenerator[dict[str, str], None]:
    async for line in remote.events(await remote.start(TaskDraft(text))):
        yield line


async def until(place: Place, remote: Remote, story: Story, lines: AsyncIterator[dict[str, str]]) -> None:
    """Up to the moment that is told of."""
    moment = "step" if story.until in {"paused", "input tap"} else story.until
    async for line in lines:
        if line["type"] == moment:
            break
    if story.until == "paused":
        await remote.send(f"{task_path('1')}/pause")
        while [task.state for task in tasks(place.data)] != ["paused"]:
            await asyncio.sleep(0.02)
    if story.until == "input tap":
        while not any("input tap" in entry.line for entry in place.phone.journal.entries if entry.receipt):
            await asyncio.sleep(0.001)


@asynccontextmanager
async def gone_on(adb_server: AdbServer, directory: Path, name: str) -> AsyncIterator[Found]:
    """The state that the first service leaves, after the second has brought it to its end."""
    story = STORIES[name]
    async with (
        a_phone() as phone,
        ModelServer(mind(brain(*story.acts))) as first,
        ModelServer(left_to_do(phone, name)) as model,
    ):
        await adb_server.connect(phone.address)
        place = Place(phone, adb_server, directory, {"VLM_MODEL": "a-model"})
        try:
            async with place.service(VLM_BASE_URL=first.base_url) as service:
                await left_behind(place, service, story)
            found = Found(place, model, len(phone.journal.entries))
            assert found.states == story.states
            async with place.service(VLM_BASE_URL=model.base_url), running_service(place.data) as remote:
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
    async with gone_on(adb_server, tmp_path, "second part") as found:
        assert (found.at_start, found.asked) == (("waiting",), {"ask": 1})
        assert found.place.phone.truth.toggles["bluetooth"]
        assert heard(found, "look around: succeeded")
