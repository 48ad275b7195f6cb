"""A watch from a message in Telegram to the shop on the phone: told once when the price falls, and silent otherwise,
though the service is killed between the reading and the telling.
"""

from __future__ import annotations

import asyncio
import json
import time

from tests.chaos.records import change, rows
from tests.end_to_end.service import Place
from tests.end_to_end.test_telegram import town

WATCH = "every 30m do open Shop, tap Blue mug, read the price, go back and tell me when the price is below $5"


async def is_due(place: Place) -> None:
    """Half an hour is over, as far as the schedule knows; it is waited for until it goes on."""
    async with asyncio.timeout(60):
        while True:
            if change(place.data, f"UPDATE schedules SET due = {time.time()} WHERE NOT paused"):
                return
            await asyncio.sleep(0.05)


async def read(place: Place, times: int) -> list[str]:
    """What came of the readings, once there are so many."""
    async with asyncio.timeout(60):
        while True:
            found = rows(place.data, "SELECT verdict FROM tasks WHERE state = 'ended' ORDER BY id")
            if len(found) == times:
                return [str(json.loads(str(row[0]))["finding"]) for row in found]
            await asyncio.sleep(0.05)


async def test_a_price_is_watched_and_told_once(place: Place) -> None:
    async with town() as here:
        settings = {name: value for name, value in here.settings.items() if not name.startswith("VLM")}

        def told() -> list[str]:
            return [message.text for message in here.fake.from_bot(here.group) if "Watch 1 ·" in message.text]

        async with place.service(**settings) as service:
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, f"/watch@{here.fake.bot.username} {WATCH}")
            asked = await here.bot_says("is this right?", here.group)
            (begin,) = [data for data, label in asked.buttons.items() if label == "Watch it"]
            await here.fake.press(here.alice, asked, begin)
            await is_due(place)
            assert await read(place, 1) == ["silent"]
            await service.kill()
        place.phone.state.prices["Blue mug"] = 450
        await is_due(place)
        async with place.service(**settings) as service:
            await here.fake.connected()
            here.fake.faults.fail("*", 502, "Bad Gateway", times=1000)
            assert await read(place, 2) == ["silent", "met"]
            await service.kill()
        assert told() == []
        here.fake.faults.faults.clear()
        async with place.service(**settings):
            await here.fake.wait_until(told, timeout=60)
            await is_due(place)
            assert await read(place, 3) == ["silent", "met", "silent"]
        assert len(told()) == 1
        assert "price: 4.50 $" in told()[0]
        assert len(here.fake.from_bot(here.group)) == 2, "no card, and nothing else"
