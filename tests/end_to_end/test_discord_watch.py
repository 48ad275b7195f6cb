"""A watch from a message in Discord to the shop on the phone: told once when the price falls, and silent otherwise."""

from __future__ import annotations

from simcord.backend.models import Message

from tests.end_to_end.service import Place
from tests.end_to_end.test_discord import town
from tests.end_to_end.test_watch import WATCH, is_due, read


async def test_a_price_is_watched_and_told_once_in_discord(place: Place) -> None:
    async with town() as here:
        settings = {name: value for name, value in here.settings.items() if not name.startswith("VLM")}

        def told() -> list[Message]:
            return [message for message in here.fake.from_bot(here.channel) if "Watch 1 ·" in message.content]

        async with place.service(**settings):
            await here.fake.connected()
            here.fake.say(here.alice, here.channel, f"!opengui watch {WATCH}")
            asked = await here.bot_says("is this right?", here.channel)
            (begin,) = [data for data, label in here.fake.buttons(asked).items() if label == "Watch it"]
            here.fake.press(here.alice, asked, begin)
            await is_due(place)
            assert await read(place, 1) == ["silent"]
            assert told() == []
            place.phone.state.prices["Blue mug"] = 450
            await is_due(place)
            assert await read(place, 2) == ["silent", "met"]
            await here.fake.wait_until(told, timeout=60)
            await is_due(place)
            assert await read(place, 3) == ["silent", "met", "silent"]
        assert len(told()) == 1
        assert "price: 4.50 $" in told()[0].content
        assert here.threads() == [], "a reading has no card"
