"""A service is killed again and again while it does a recorded skill again: what it does on the phone is done once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.chaos.records import tasks
from tests.end_to_end.service import Place, Service

LIMIT = 90.0
TASK = 'Open Notes, tap New note, type "First" into Title, type "Eggs and flour" into Note, tap Save'
INPUTS = 6
"""Of the whole skill, about."""
MOMENT_S = 0.4
"""At most so long after an input a kill strikes: while it is looked at, journalled, or the next one is decided."""


@dataclass
class Killed:
    """What became of replays whose service was killed once each."""

    kills: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    """How often the phone has kept each note, by its title."""
    titles: list[str] = field(default_factory=list)

    def judge(self) -> None:
        """Raises AssertionError where something was done twice, or said to be done and is not."""
        assert not {title: number for title, number in self.written.items() if number > 1}
        assert set(self.written) <= set(self.titles)
        assert sum(self.written.values()) >= self.outcomes["succeeded"]


async def kill_again_and_again(place: Place, *, kills: int, seed: int) -> Killed:
    """Record a note, and do that again with a title of its own each time; each time the service dies on the way."""
    chance, found = random.Random(seed), Killed()
    async with place.service() as service:
        code, secret, err = await place.opengui("token", "add", "home")
        assert code == 0, err
        headers = {"Authorization": f"Bearer {secret.strip()}"}
        async with aiohttp.ClientSession(headers=headers) as caller:
            task = await _given(caller, service, {"text": TASK})
            assert await _ended(place, caller, service, task) == "succeeded"
        saved = await place.opengui("save", "1", "as", "note", "title=First", "--yes")
        assert saved[0] == 0, saved
    async with aiohttp.ClientSession(headers=headers) as caller:
        while found.kills < kills:
            title = f"Number {found.kills}"
            found.titles.append(title)
            async with place.service() as service:
                before = _inputs(place)
                task = await _given(caller, service, {"skill": "note", "arguments": {"title": title}})
                wanted = before + chance.randint(0, INPUTS)
                async with asyncio.timeout(LIMIT):
                    while _inputs(place) < wanted and _state(place.data, task)[0] != "ended":
                        await asyncio.sleep(0.005)
                await asyncio.sleep(chance.uniform(0.0, MOMENT_S))
                await service.kill()
            found.kills += 1
            async with place.service() as service:
                found.outcomes[await _ended(place, caller, service, task)] += 1
    found.written = Counter(note.title for note in place.phone.truth.notes if note.title.startswith("Number "))
    return found


async def _given(caller: aiohttp.ClientSession, service: Service, wish: dict[str, Any]) -> str:
    url = service.console.partition("/?")[0]
    async with caller.post(f"{url}/api/v1/tasks", json=wish) as answer:
        assert answer.status == 201, await answer.text()
        return str((await answer.json())["id"])


async def _ended(place: Place, caller: aiohttp.ClientSession, service: Service, task: str) -> str:
    """The outcome. A person has an interrupted task go on, and cancels one that asks what else to do."""
    url = f"{service.console.partition('/?')[0]}/api/v1/tasks/{task}"
    deeds = {"interrupted": "resume", "waiting": "cancel"}
    async with asyncio.timeout(LIMIT):
        while (found := _state(place.data, task))[0] != "ended":
            if (deed := deeds.get(found[0])) is not None:
                (await caller.post(f"{url}/{deed}")).release()  # refused where it has gone on by itself
            await asyncio.sleep(0.1)
    return found[1]


def _inputs(place: Place) -> int:
    return len({entry.receipt for entry in place.phone.journal.entries if entry.receipt})


def _state(data: Path, task: str) -> tuple[str, str]:
    (row,) = (row for row in tasks(data) if row.number == int(task))
    return row.state, row.outcome
