"""`make soak`: the service works without a pause, and needs no more of the machine at the end than at the beginning.

Four virtual phones, people on Telegram and Discord who give tasks, answer, pause, resume, cancel and read; connections
that break; a backup now and then. SOAK_MINUTES says for how long (15). What the service needs is told each minute.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from tests.chaos.agent import restless
from tests.chaos.people import OnDiscord, OnTelegram, People
from tests.chaos.records import damage, rows, tasks
from tests.end_to_end.service import Needs, Place, Service, place_with
from tests.fakes.discord import TOKEN as DISCORD_TOKEN
from tests.fakes.discord import FakeDiscord
from tests.fakes.model_server import ModelServer
from tests.fakes.telegram import TOKEN as TELEGRAM_TOKEN
from tests.fakes.telegram import FakeTelegram
from tests.fixtures.adb import AdbServer

MINUTES = float(os.environ.get("SOAK_MINUTES", "15"))
LIVING = 6
"""Tasks at once: one for each phone, and some in the queue."""
AGAIN = 0.05
"""How often people press again what they have pressed before."""
WARM = 1 / 3
"""The part of the time in which caches fill, threads start and connections are opened."""
MORE_MEMORY = 1.25
MORE_HANDLES = 8
WAL_MOST = 16 * 1024 * 1024
"""SQLite writes back what is in the -wal from 4 MB on, as soon as nobody reads."""
COMMANDS = ("tasks", "usage", "devices", "status", "screen", "schedules", "schedule in 2 minutes: open the clock")

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(24 * 3600)]


async def test_long_work_leaves_nothing_behind(adb_server: AdbServer, tmp_path: Path) -> None:
    chance = random.Random(1)
    async with (
        FakeTelegram() as telegram,
        FakeDiscord() as discord,
        ModelServer(restless(random.Random(2))) as model,
        place_with(adb_server, tmp_path) as place,
    ):
        alice, guild = telegram.user("alice"), discord.guild()
        channel, bob = discord.channel(guild), discord.user("bob", guild)
        place.settings |= {
            "ANDROID_SERIALS": "",
            "VIRTUAL_PHONES": "4",
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
        crowds: list[People] = [
            OnTelegram(random.Random(3), 0, fake=telegram, user=alice, chat=telegram.private(alice)),
            OnDiscord(random.Random(4), 0, fake=discord, user=bob, channel=channel),
        ]

        async def tell(words: str) -> None:
            if chance.random() < 0.5:
                await telegram.say(alice, telegram.private(alice), f"/{words}")
            elif discord.gateway.connected:
                discord.say(bob, channel, f"!opengui {words}")

        async def breaks() -> None:
            await discord.gateway.drop()
            telegram.faults.break_off("getUpdates")
            telegram.faults.page("sendMessage", 502, "<html>Bad Gateway</html>")

        async with place.service() as service:
            helpers = [
                *(asyncio.create_task(people.live()) for people in crowds),
                asyncio.create_task(every(2.0, lambda: give(place, crowds, chance))),
                asyncio.create_task(every(5.0, lambda: tell(chance.choice(COMMANDS)))),
                asyncio.create_task(every(9.0, lambda: tell(order(place, chance)))),
                asyncio.create_task(every(40.0, breaks)),
                asyncio.create_task(every(150.0, lambda: back_up(place))),
            ]
            try:
                seen = await watched(service, place, helpers)
                told = {job for people in crowds for job in people.jobs if people.finals(job)}
            finally:
                for each in helpers:
                    each.cancel()
            await service.kill()
        kept = {task.text for task in tasks(place.data) if task.state == "ended"}
    assert told
    assert told <= kept, "the end of a task was told and is in no file"
    assert damage(place.data) == []
    judge(seen)


async def every(seconds: float, act: Callable[[], object]) -> None:
    """Do it again and again, until cancelled."""
    while True:
        await asyncio.sleep(seconds)
        doing = act()
        if asyncio.iscoroutine(doing):
            await doing


async def give(place: Place, crowds: list[People], chance: random.Random) -> None:
    """A task for whoever has none to wait for; what was pressed in vain is pressed again."""
    if sum(task.state != "ended" for task in tasks(place.data)) < LIVING:
        people = chance.choice(crowds)
        if chance.random() < AGAIN:
            people.look_again()
        if people.heard():
            await people.ask()


def order(place: Place, chance: random.Random) -> str:
    """Something about a task that lives: paused ones go on, now and then one is cancelled."""
    living = [task for task in tasks(place.data) if task.state != "ended"]
    for task in living:
        if task.state == "paused":
            return f"resume {task.number}"
    return f"{chance.choice(('pause', 'pause', 'cancel'))} {chance.choice(living).number}" if living else "tasks"


async def back_up(place: Place) -> None:
    file = place.directory / "backup.zip"
    file.unlink(missing_ok=True)
    code, _, err = await place.opengui("backup", str(file))
    assert code == 0, err


async def watched(service: Service, place: Place, helpers: list[asyncio.Task[None]]) -> list[Needs]:
    """What the service needed, minute by minute."""
    seen: list[Needs] = []
    for minute in itertools.count(1):
        await asyncio.wait(helpers, timeout=60.0, return_when=asyncio.FIRST_EXCEPTION)
        for each in helpers:
            if each.done():
                each.result()
        seen.append(service.needs())
        wal = sum(path.stat().st_size for path in place.data.glob("*-wal"))
        ((steps,),) = rows(place.data, "SELECT COUNT(*) FROM steps")
        say(f"minute {minute}: {seen[-1]}, {steps} steps, {wal / 1e6:.1f} MB to write back")
        assert wal <= WAL_MOST
        if minute >= MINUTES:
            return seen
    raise AssertionError


def judge(seen: list[Needs]) -> None:
    """The end against the time after the start, by medians: single minutes differ."""
    warm = seen[int(len(seen) * WARM) :]
    half = max(1, len(warm) // 2)
    before, after = warm[:half], warm[-half:]
    assert median(each.memory for each in after) <= MORE_MEMORY * median(each.memory for each in before)
    assert median(each.handles for each in after) <= MORE_HANDLES + median(each.handles for each in before)
    assert median(each.threads for each in after) <= MORE_HANDLES + median(each.threads for each in before)


def say(text: str) -> None:
    print(f"soak: {text}", file=sys.__stderr__, flush=True)
