"""What the doctor sees of the bot's permissions."""

from __future__ import annotations

import pytest

from bot.chats.discord.permissions import PlaceReport, survey
from bot.texts import say
from tests.bot.chats.discord.conftest import Home
from tests.fakes.discord import TOKEN


async def test_each_listed_channel_is_looked_at(home: Home) -> None:
    home.fake.deny(home.channel, "attach_files", "create_public_threads")
    fine = home.fake.channel(home.guild, "fine")
    hidden = home.fake.channel(home.guild, "hidden")
    home.fake.deny(hidden, "view_channel")
    ids = [str(home.channel.id), str(fine.id), str(hidden.id), "12345"]
    assert await survey(TOKEN, [str(home.guild.id)], ids, home.fake.api_base) == (
        PlaceReport(
            "#general of Home",
            (say("discord.lacks.create_public_threads"), say("discord.lacks.attach_files")),
        ),
        PlaceReport("#fine of Home"),
        PlaceReport(f"channel {hidden.id}", found=False),
        PlaceReport("channel 12345", found=False),
    )


async def test_without_channels_the_servers_are(home: Home) -> None:
    seen = await survey(TOKEN, [str(home.guild.id), "12345"], [], home.fake.api_base)
    assert seen == (PlaceReport("server Home"), PlaceReport("server 12345", found=False))


async def test_what_cannot_be_asked_is_a_sentence_without_the_token(home: Home) -> None:
    with pytest.raises(OSError, match="could not be checked") as caught:
        await survey("a-secret-token", [str(home.guild.id)], [], home.fake.api_base)
    assert "a-secret-token" not in repr(caught.value)
