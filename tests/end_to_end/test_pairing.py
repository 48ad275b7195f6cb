"""Pairing and linking on the real platforms' adapters: a service without any list does nothing but pair."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from simcord.backend.models import Channel, User

from tests.end_to_end.service import Place
from tests.fakes import discord, telegram
from tests.fakes.telegram import Chat as Group
from tests.fakes.telegram import User as TelegramUser

LIMIT = 60.0
CODE = re.compile(r"\b[A-Z2-9]{8}\b")


@dataclass
class Town:
    """Two platforms, and somebody with an account on each."""

    discord: discord.FakeDiscord
    telegram: telegram.FakeTelegram
    channel: Channel
    alice: User
    group: Group
    tele_alice: TelegramUser
    settings: dict[str, str]

    async def in_discord(self, text: str, *, by: User | None = None) -> str:
        """Write to the bot in private there; what it answers."""
        who = by or self.alice
        private = self.discord.private(who)
        before = len(self.discord.from_bot(private))
        self.discord.say(who, private, text)
        await self.discord.wait_until(lambda: len(self.discord.from_bot(private)) > before, timeout=LIMIT)
        return self.discord.from_bot(private)[-1].content

    async def in_telegram(self, text: str) -> str:
        """Write to the bot in private there; what it answers."""
        private = self.telegram.private(self.tele_alice)
        before = len(self.telegram.from_bot(private))
        await self.telegram.say(self.tele_alice, private, text)
        await self.telegram.wait_until(lambda: len(self.telegram.from_bot(private)) > before, timeout=LIMIT)
        return self.telegram.from_bot(private)[-1].text


def code_in(text: str) -> str:
    found = CODE.search(text)
    assert found is not None, text
    return found[0]


@asynccontextmanager
async def town() -> AsyncIterator[Town]:
    async with discord.FakeDiscord() as one, telegram.FakeTelegram() as other:
        guild = one.guild()
        alice = one.user("alice", guild)
        settings = {
            "PAIRING": "on",
            "DISCORD_BOT_TOKEN": discord.TOKEN,
            "DISCORD_API_BASE": one.api_base,
            "DISCORD_ADMIN_USER_IDS": str(alice.id),
            "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
            "TELEGRAM_BASE_URL": other.base_url,
        }
        yield Town(one, other, one.channel(guild), alice, other.group(), other.user("alice"), settings)


async def test_a_service_without_lists_does_nothing_but_pair(place: Place) -> None:
    async with town() as here, place.service(**here.settings) as service:
        await here.discord.connected()
        await here.telegram.connected()
        here.discord.say(here.alice, here.channel, "!opengui do open settings")
        await here.telegram.say(here.tele_alice, here.group, "/do open settings")
        code = code_in(await here.in_discord("!opengui do open settings"))
        tele_code = code_in(await here.in_telegram("/do open settings"))
        assert here.discord.from_bot(here.channel) == []
        assert here.telegram.from_bot(here.group) == []
        assert (await place.opengui("tasks", "--json"))[1] == ""

        _, waiting, _ = await place.opengui("pair")
        assert f"(discord:{here.alice.id})" in waiting
        assert f"(telegram:{here.tele_alice.id})" in waiting
        exit_code, told, _ = await place.opengui("pair", code)
        assert (exit_code, "can now use the bot" in told) == (0, True)
        assert "use, approve, operate, admin" in await here.in_discord("!opengui whoami")
        assert "can now use the bot" in await here.in_discord(f"!opengui pair {tele_code}")
        assert "Rights here: use" in await here.in_telegram("/whoami")

        link = code_in(await here.in_telegram("/pair"))
        assert "type the code once more" in (await here.in_discord(f"!opengui pair {link}")).lower()
        assert "now count as one person" in await here.in_discord(f"!opengui pair {link}")
        linked = await here.in_telegram("/whoami")
        assert f"discord:{here.alice.id}" in linked
        assert "admin" not in linked

        await here.in_discord("!opengui schedule every day 07:30 do open settings")
        assert "open settings" in (await place.opengui("schedules"))[1]
        assert (await place.opengui("usage"))[0] == 0
        assert "60 → 7" in await here.in_discord("!opengui set max_steps 7")
        assert "Changed with `set`" in (await place.opengui("doctor"))[1]
        for secret in (code, tele_code, link):
            assert secret not in service.log
