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
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.agent import restless
from tests.chaos.people import REPEAT, OnDiscord, OnTelegram, People
from tests.chaos.records import TaskRow, damage, rows, tasks
from tests.end_to_end.service import START_S, Place, place_with
from tests.fakes.discord import TOKEN as DISCORD_TOKEN
from tests.fakes.discord import FakeDiscord
from tests.fakes.model_server import ModelServer
from tests.fakes.telegram import TOKEN as TELEGRAM_TOKEN
from tests.fakes.telegram import FakeTelegram
from tests.fixtures.adb import AdbServer

KILLS = int(os.environ.get("CHAOS_KILLS", "100"))
SEED = int(os.environ.get("CHAOS_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
WAIT_S = 8.0
"""How long a kill waits for its moment."""
AGAIN_S = 10.0
"""How long people wait before they press the same button again."""
CALM_S = 900.0
"""How long the service may take, left in peace, to end what is there."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(4 * 3600)]


async def test_nothing_is_lost_and_nothing_happens_twice(adb_server: AdbServer, tmp_path: Path) -> None:
    say(f"seed {SEED}, {KILLS} kills")
    chance = random.Random(SEED)
    async with (
        FakeTelegram() as telegram,
        FakeDiscord() as discord,
        ModelServer(restless(random.Random(SEED + 1))) as model,
        place_with(adb_server, tmp_path) as place,
    ):
        alice, guild = telegram.user("alice"), discord.guild()
        channel, bob = discord.channel(guild), discord.user("bob", guild)
        most = max(3, KILLS // 4)
        crowds: list[People] = [
            OnTelegram(random.Random(SEED + 2), most, fake=telegram, user=alice, chat=telegram.private(alice)),
            OnDiscord(random.Random(SEED + 3), most, fake=discord, user=bob, channel=channel),
        ]
        place.settings |= {
            "TELEGRAM_BOT_TOKEN": TELEGRAM_TOKEN,
            "TELEGRAM_BASE_URL": telegram.base_url,
            "TELEGRAM_ALLOWED_USER_IDS": str(alice.id),
            "DISCORD_BOT_TOKEN": DISCORD_TOKEN,
            "DISCORD_API_BASE": discord.api_base,
            "DISCORD_ALLOWED_GUILD_IDS": str(guild.id),
            "DISCORD_ALLOWED_USER_IDS": str(bob.id),
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
        }
        living = [asyncio.create_task(people.live()) for people in crowds]
        died: Counter[str] = Counter()
        try:
            for number in range(1, KILLS + 1):
                died[await live_and_die(place, crowds, chance)] += 1
                for people in crowds:
                    people.look_again()
                if number % 10 == 0:
                    say(f"{number} kills, {Counter(task.state for task in tasks(place.data))}")
            for people in crowds:
                people.most = 0
            await in_peace(place, crowds)
        finally:
            for each in living:
                each.cancel()
        say(f"killed at: {dict(died)}")
        judge(place, crowds)


async def live_and_die(place: Place, crowds: list[People], chance: random.Random) -> str:
    """Start, live for a while (sometimes not even to the end of the start), and be killed. Returns when that was."""
    moment = chance.choice(("starting", "anytime", "anytime", "a question", "a final message"))
    service = place.service()
    starting = asyncio.create_task(service.__aenter__())
    await asyncio.wait({starting}, timeout=chance.uniform(0.3, 3.0) if moment == "starting" else START_S)
    if moment == "a question":
        moment = await until_more(lambda: sum(people.questions() for people in crowds), moment)
        await asyncio.sleep(chance.uniform(0.0, 0.3))
    elif moment == "a final message":
        moment = await until_more(lambda: sum(len(people.finals()) for people in crowds), moment)
    elif moment == "anytime":
        await asyncio.sleep(chance.uniform(0.0, 5.0))
    await service.spawned()
    await service.kill()
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError, AssertionError, TimeoutError):
        await starting
    return moment


async def until_more(count: Callable[[], int], moment: str) -> str:
    """Until there is one more, at most WAIT_S seconds. Returns what it was."""
    before = count()
    try:
        async with asyncio.timeout(WAIT_S):
            while count() <= before:
                await asyncio.sleep(0.005)
    except TimeoutError:
        return "anytime"
    return moment


async def in_peace(place: Place, crowds: list[People]) -> None:
    """Nobody kills any more: all that was accepted comes to its end, and the end is told."""
    async with place.service():
        try:
            async with asyncio.timeout(CALM_S):
                while left := not_over(place, crowds):
                    await asyncio.sleep(AGAIN_S)
                    for people in crowds:
                        people.look_again()
        except TimeoutError:
            raise AssertionError(f"not over after {CALM_S} s: {left}") from None


def not_over(place: Place, crowds: list[People]) -> list[TaskRow]:
    found = tasks(place.data)
    return [task for task in found if task.state != "ended" or not crowd_of(task, crowds).finals(task.text)]


def crowd_of(task: TaskRow, crowds: list[People]) -> People:
    return next(people for people in crowds if task.text in people.jobs)


def judge(place: Place, crowds: list[People]) -> None:
    """From the phone's own record, the chats' own records and the files."""
    found = tasks(place.data)
    inputs = place.phone.journal.inputs()
    for people in crowds:
        accepted = [task for task in found if task.text in people.jobs]
        repeated = sum(len(people.finals(task.text)) - 1 for task in accepted)
        say(
            f"{people.platform}: {len(people.jobs)} asked for, {len(accepted)} accepted, {repeated} ends told again "
            f"(marked), {people.questions()} questions"
        )
        assert accepted, f"no task of {people.platform} was ever accepted"
    say(f"{len(inputs)} inputs on the phone; tasks: {dict(Counter(task.outcome for task in found))}")
    receipts = Counter(entry.receipt for entry in inputs if entry.receipt)
    assert receipts, "the phone was never touched"
    assert [receipt for receipt, times in receipts.items() if times > 1] == [], "an action reached the phone twice"
    assert [text for text, times in Counter(task.text for task in found).items() if times > 1] == [], "accepted twice"
    for task in found:
        people = crowd_of(task, crowds)
        shown = people.finals(task.text)
        assert shown, f"the end of {task} was never told"
        unmarked = [message for message in shown if REPEAT not in message.text]
        assert len(unmarked) <= 1, f"the end of {task} was told {len(shown)} times"
        (sendings,) = rows(place.data, f"SELECT attempts FROM outbox WHERE kind = 'final' AND task = {task.number}")[0]
        most = int(str(sendings)) if people.repeats else 1
        assert len(shown) <= most, f"the end of {task} was told {len(shown)} times in {sendings} sendings"
    resumed = {row[0] for row in rows(place.data, "SELECT task FROM outbox WHERE subject = 'interrupted'")}
    assert in_order([task for task in found if task.number not in resumed]), "a later task began before an earlier one"
    assert damage(place.data) == []
    assert rows(place.data, "SELECT phone, run FROM leases WHERE released IS NULL") == []


def in_order(found: list[TaskRow]) -> bool:
    begun = [task.started for task in found if task.started is not None]
    return begun == sorted(begun)


def say(text: str) -> None:
    print(f"chaos: {text}", file=sys.__stderr__, flush=True)
