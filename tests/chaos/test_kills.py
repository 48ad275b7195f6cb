"""`make chaos`: the service is killed again and again while people use it, and afterwards everybody's records agree.

CHAOS_KILLS says how often (100), CHAOS_SEED repeats the choices of a run; when exactly a kill strikes is never the
same twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.chaos.mind import restless
from tests.chaos.people import People
from tests.chaos.records import TaskRow, damage, rows, tasks
from tests.end_to_end.service import Place, place_with
from tests.fakes.model_server import ModelServer
from tests.fakes.telegram import TOKEN, FakeTelegram
from tests.fixtures.adb import AdbServer

KILLS = int(os.environ.get("CHAOS_KILLS", "100"))
SEED = int(os.environ.get("CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
CALM_S = 900.0
"""How long the service may take, left in peace, to end what is there."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(4 * 3600)]


async def test_nothing_is_lost_and_nothing_happens_twice(adb_server: AdbServer, tmp_path: Path) -> None:
    say(f"seed {SEED}, {KILLS} kills")
    chance = random.Random(SEED)
    async with (
        FakeTelegram() as fake,
        ModelServer(restless(random.Random(SEED + 1))) as model,
        place_with(adb_server, tmp_path) as place,
    ):
        alice = fake.user("alice")
        people = People(fake, alice, fake.private(alice), random.Random(SEED + 2), most=max(5, KILLS // 2))
        place.settings |= {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_BASE_URL": fake.base_url,
            "TELEGRAM_ALLOWED_USER_IDS": str(alice.id),
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
        }
        living = asyncio.create_task(people.live())
        try:
            for number in range(1, KILLS + 1):
                await live_and_die(place, chance)
                people.look_again()
                if number % 10 == 0:
                    say(f"{number} kills, {Counter(task.state for task in tasks(place.data))}")
            people.most = 0
            await in_peace(place, people)
        finally:
            living.cancel()
        await judge(place, people)


async def live_and_die(place: Place, chance: random.Random) -> None:
    """Start, live for a while (sometimes not even to the end of the start), and be killed."""
    service = place.service()
    starting = asyncio.create_task(service.__aenter__())
    await asyncio.wait({starting}, timeout=chance.choice((0.3, 1.0, 60.0, 60.0, 60.0, 60.0)))
    await asyncio.sleep(chance.uniform(0.0, 5.0))
    await service.kill()
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError, AssertionError):
        await starting


async def in_peace(place: Place, people: People) -> None:
    """Nobody kills any more: all that was accepted comes to its end, and the end is told."""
    async with place.service():
        try:
            async with asyncio.timeout(CALM_S):
                while not over(place, people):
                    await asyncio.sleep(1.0)
                    people.look_again()
        except TimeoutError:
            left = [task for task in tasks(place.data) if task.state != "ended" or not people.finals(task.text)]
            raise AssertionError(f"not over after {CALM_S} s: {left}") from None


def over(place: Place, people: People) -> bool:
    found = tasks(place.data)
    return all(task.state == "ended" and people.finals(task.text) for task in found)


async def judge(place: Place, people: People) -> None:
    """From the phone's own record, the chat's own record and the files."""
    found = tasks(place.data)
    assert found, "no task was ever accepted"
    say(f"{len(people.jobs)} asked for, {len(found)} accepted, {len(place.phone.journal.inputs())} inputs on the phone")
    receipts = Counter(entry.receipt for entry in place.phone.journal.inputs() if entry.receipt)
    assert receipts, "the phone was never touched"
    assert [receipt for receipt, times in receipts.items() if times > 1] == [], "an action reached the phone twice"
    assert [text for text, times in Counter(task.text for task in found).items() if times > 1] == [], "accepted twice"
    for task in found:
        shown = people.finals(task.text)
        assert shown, f"the end of {task} was never told"
        unmarked = [message for message in shown if "may be a repeat" not in message.text]
        assert len(unmarked) <= 1, f"the end of {task} was told {len(shown)} times"
        assert len(shown) <= 2, f"the end of {task} was told {len(shown)} times"
    resumed = {row[0] for row in rows(place.data, "SELECT task FROM outbox WHERE subject = 'interrupted'")}
    assert in_order([task for task in found if task.number not in resumed]), "a later task began before an earlier one"
    assert damage(place.data) == []
    assert rows(place.data, "SELECT phone, run FROM leases WHERE released IS NULL") == []


def in_order(found: list[TaskRow]) -> bool:
    begun = [task.started for task in found if task.started is not None]
    return begun == sorted(begun)


def say(text: str) -> None:
    print(f"chaos: {text}", file=sys.__stderr__, flush=True)
