"""A service is killed again and again while members of the team work: each goes on, and nothing is done twice."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.chaos.records import rows, tasks
from tests.end_to_end.brain import call
from tests.end_to_end.service import Place, Service
from tests.fakes.model_server import Answer, ModelServer, Recorded

MEMBERS = ("left", "right")
LIMIT = 60.0
END = "END"
MOMENT_S = 0.25
"""At most so long after a request of a model a kill strikes: while it answers, a tool runs, or something is stored."""


AT_A_WRITE = 0.7
"""How many of the kills strike just after a tool has written, while what came of it is stored."""


@dataclass
class Killed:
    """What became of a task whose service was killed `kills` times."""

    kills: int
    lines: int
    state: str
    outcome: str
    written: dict[str, Counter[str]]
    """How often each line stands in the file of each member."""
    uncertain: int
    """Calls of which nobody knows whether they were done; they were not done again."""

    def judge(self) -> None:
        """Raises AssertionError where something was lost, or done twice."""
        # Where it is not known whether a call was done, the end says so.
        assert self.state == "ended"
        assert self.outcome in ({"succeeded", "unverified"} if self.uncertain else {"succeeded"})
        expected = {END, *(f"line {number}" for number in range(1, self.lines + 1))}
        for written in self.written.values():
            assert set(written.values()) <= {1}, written
            assert set(written) <= expected
        # A file that was not begun takes no line: all of it is missing because of one call.
        missing = sum(len(expected - set(written)) if written else 1 for written in self.written.values())
        assert missing <= self.uncertain


def clerk(chance: random.Random, lines: int) -> Callable[[Recorded], Answer]:
    """A model without memory for two members, each of which adds line after line to a file of its own."""

    def think(request: Recorded) -> Answer:
        return _next(request, lines).model_copy(update={"pace": chance.uniform(0.0, 0.03)})

    return think


def _next(request: Recorded, lines: int) -> Answer:
    text = request.text
    if "Decide how to handle" in text:
        return Answer(text=json.dumps({"kind": "complex"}))
    if "You plan work for a small team" in text:
        steps = [{"member": "general-purpose", "title": name} for name in MEMBERS]
        return Answer(text=json.dumps({"steps": steps}))
    if "You supervise a small team" in text:
        if "(none yet)" not in text.partition("Results:")[2]:
            return Answer(text=json.dumps({"decision": "complete"}))
        given = [{"member": "general-purpose", "todo": name, "goal": f"fill {name}.txt"} for name in MEMBERS]
        return Answer(text=json.dumps({"decision": "continue", "assignments": given}))
    if "You tell a person how" in text:
        return Answer(text="Both files are filled.")
    found = re.search(r"fill (\w+)\.txt", text)
    assert found is not None, text[-500:]
    done = sum(message.get("role") == "tool" for message in request.messages)
    if done == 0:
        return call("write_file", path=f"{found[1]}.txt", text=END)(request)
    if done <= lines:
        return call("write_file", path=f"{found[1]}.txt", old=END, text=f"line {done}\n{END}")(request)
    return Answer(text=f"{found[1]}.txt has its lines.")


async def kill_again_and_again(place: Place, *, kills: int, seed: int, lines: int) -> Killed:
    """Give the task, kill the service so often while its members work, and let it come to an end."""
    chance = random.Random(seed)
    async with ModelServer(clerk(random.Random(seed + 1), lines)) as model:
        place.settings |= {"VLM_BASE_URL": model.base_url, "VLM_MODEL": "a-model"}
        task, struck = "", 0
        while struck < kills:
            async with place.service() as service:
                if not task:
                    task = await _given(place, service)
                before = _members_asked(model)
                wanted = before + chance.randint(1, 3)
                async with asyncio.timeout(LIMIT):
                    while _members_asked(model) < wanted and _state(place.data, task)[0] != "ended":
                        await asyncio.sleep(0.01)
                if _state(place.data, task)[0] == "ended":
                    break
                if chance.random() < AT_A_WRITE:
                    await _written_anew(place.data / "task-files" / task)
                else:
                    await asyncio.sleep(chance.uniform(0.0, MOMENT_S))
                await service.kill()
                struck += 1
        async with place.service():
            async with asyncio.timeout(LIMIT):
                while _state(place.data, task)[0] != "ended":
                    await asyncio.sleep(0.05)
    state, outcome = _state(place.data, task)
    uncertain = len(rows(place.data, "SELECT 1 FROM tool_calls WHERE state = 'uncertain'"))
    folder = place.data / "task-files" / task
    written = {name: Counter(_lines(folder / f"{name}.txt")) for name in MEMBERS}
    return Killed(struck, lines, state, outcome, written, uncertain)


def _members_asked(model: ModelServer) -> int:
    return sum("fill " in request.text and "You are one of a team" in request.text for request in model.requests)


async def _written_anew(folder: Path) -> None:
    """Returns at the next write of a member, or when none comes for a while. No pause is short enough here."""
    before, until = _times(folder), time.monotonic() + 1.0
    while _times(folder) == before and time.monotonic() < until:
        await asyncio.sleep(0)


def _times(folder: Path) -> list[int]:
    paths = [folder / f"{name}.txt" for name in MEMBERS]
    return [path.stat().st_mtime_ns if path.exists() else 0 for path in paths]


async def _given(place: Place, service: Service) -> str:
    code, secret, err = await place.opengui("token", "add", "home")
    assert code == 0, err
    url, headers = service.console.partition("/?")[0], {"Authorization": f"Bearer {secret.strip()}"}
    async with (
        aiohttp.ClientSession(headers=headers) as caller,
        caller.post(f"{url}/api/v1/tasks", json={"text": "fill two files"}) as answer,
    ):
        assert answer.status == 201, await answer.text()
        return str((await answer.json())["id"])


def _state(data: Path, task: str) -> tuple[str, str]:
    (row,) = (row for row in tasks(data) if row.number == int(task))
    return row.state, row.outcome


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
