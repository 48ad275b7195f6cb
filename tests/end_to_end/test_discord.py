"""From a message in Discord to a changed phone and back, with every real part in between."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from simcord.backend.models import Channel, Guild, Message, User

from tests.end_to_end.brain import FINISH, Act, brain, call, on, tap
from tests.end_to_end.service import Place
from tests.fakes.discord import TOKEN, FakeDiscord
from tests.fakes.model_server import ModelServer

LIMIT = 60.0


@dataclass
class Town:
    """A Discord server with a channel and a listed person; the service's settings to be there."""

    fake: FakeDiscord
    guild: Guild
    channel: Channel
    alice: User
    settings: dict[str, str]

    def threads(self) -> list[Channel]:
        return self.fake.threads(self.channel)

    async def thread(self) -> Channel:
        """The first thread, whenever it is there."""
        await self.fake.wait_until(self.threads, timeout=LIMIT)
        return self.threads()[0]

    async def bot_says(self, words: str, channel: Channel) -> Message:
        """The bot's first message with these words."""

        def found() -> list[Message]:
            return [message for message in self.fake.from_bot(channel) if words in message.content]

        await self.fake.wait_until(found, timeout=LIMIT)
        return found()[0]


def town(*acts: Act) -> AbstractAsyncContextManager[Town]:
    """A town, and a model endpoint that does these acts."""
    return town_with(brain(*acts))


@asynccontextmanager
async def town_with(agent: Act) -> AsyncIterator[Town]:
    """A town, and a model endpoint that answers so."""
    async with FakeDiscord() as fake, ModelServer(agent) as model:
        guild = fake.guild()
        channel = fake.channel(guild)
        alice = fake.user("alice", guild)
        settings = {
            "DISCORD_BOT_TOKEN": TOKEN,
            "DISCORD_API_BASE": fake.api_base,
            "DISCORD_ALLOWED_GUILD_IDS": str(guild.id),
            "DISCORD_ALLOWED_CHANNEL_IDS": str(channel.id),
            "DISCORD_ALLOWED_USER_IDS": str(alice.id),
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
            "DISCORD_CLIENT_ID": fake.client_id,
            "DISCORD_REGISTER_COMMANDS": "true",
        }
        yield Town(fake, guild, channel, alice, settings)


BLUETOOTH = [call("open_app", name="Settings"), tap("Bluetooth"), FINISH]


async def test_a_message_changes_the_phone_and_the_thread_tells_it(place: Place) -> None:
    async with town(*BLUETOOTH) as here, place.service(**here.settings):
        await here.fake.connected()
        here.fake.say(here.alice, here.channel, "!opengui do switch Bluetooth on")
        thread = await here.thread()
        final = await here.bot_says("It is done.", thread)
        assert place.phone.truth.toggles["bluetooth"]
        assert "42" in final.content
        said = here.fake.from_bot(thread)
        assert sum("It is done." in message.content for message in said) == 1
        assert any(message.attachments for message in said)
        (card,) = [message for message in said if message.edited_timestamp is not None]
        assert not card.attachments, "the end shows the screen, and not twice"


async def test_strangers_move_nothing(place: Place) -> None:
    """Seen failing with `authorize` always allowing: the phone is then touched for each of them."""
    async with town(*BLUETOOTH) as here, place.service(**here.settings):
        await here.fake.connected()
        other_guild = here.fake.guild()
        elsewhere = here.fake.channel(other_guild)
        other_channel = here.fake.channel(here.guild, "other")
        stranger = here.fake.user("mallory", here.guild)
        here.fake.say(stranger, here.channel, "!opengui do switch Bluetooth on")
        here.fake.say(here.alice, other_channel, "!opengui do switch Bluetooth on")
        here.fake.say(here.fake.user("bob", other_guild), elsewhere, "!opengui do switch Bluetooth on")
        here.fake.say(here.alice, here.channel, "!opengui whoami")
        await here.bot_says(str(here.alice.id), here.channel)
        _, tasks, _ = await place.opengui("tasks", "--json")
        assert tasks == ""
        assert here.threads() == []
        assert len(here.fake.from_bot(here.channel)) == 1
        assert not [entry for entry in place.phone.journal.entries if entry.receipt]


SIGN_IN = [
    call("open_app", name="Account"),
    on("User name", "type", text="anna", submit=True),
    on("6-digit code", "enter_secret", question="Which code came to your phone?", submit=True),
    FINISH,
]


async def test_a_code_is_asked_for_in_the_thread(place: Place) -> None:
    async with town(*SIGN_IN) as here, place.service(**here.settings) as service:
        await here.fake.connected()
        here.fake.say(here.alice, here.channel, "!opengui do sign in as anna")
        thread = await here.thread()
        await here.bot_says("wants a password or code", thread)
        here.fake.say(here.alice, thread, "246810")
        await here.bot_says("It is done.", thread)
        assert place.phone.truth.signed_in == "anna"
        assert "246810" not in service.log
        _nothing_twice(place)


async def test_a_code_is_asked_for_and_the_service_dies_before_the_answer(place: Place) -> None:
    async with town(*SIGN_IN) as here:
        async with place.service(**here.settings) as service:
            await here.fake.connected()
            here.fake.say(here.alice, here.channel, "!opengui do sign in as anna")
            thread = await here.thread()
            await here.bot_says("wants a password or code", thread)
            await service.kill()
        async with place.service(**here.settings):
            await here.fake.connected()
            here.fake.say(here.alice, thread, "246810")
            await here.bot_says("It is done.", thread)
        assert place.phone.truth.signed_in == "anna"
        assert sum("is needed" in message.content for message in here.fake.from_bot(thread)) == 1
        assert sum("It is done." in message.content for message in here.fake.from_bot(thread)) == 1
        _nothing_twice(place)


async def test_a_kill_in_the_middle_of_an_action(place: Place) -> None:
    """Seen failing with `execute_action` looking by itself when it has no sight and the journal's no not heeded."""
    acts = [call("open_app", name="Settings"), tap("Bluetooth"), FINISH]
    async with town(*acts) as here:
        async with place.service(**here.settings) as service:
            await here.fake.connected()
            here.fake.say(here.alice, here.channel, "!opengui do switch Bluetooth on")
            thread = await here.thread()
            await _received(place, "input tap")
            await service.kill()
        assert place.phone.truth.toggles["bluetooth"]
        async with place.service(**here.settings):
            await here.fake.connected()
            notice = await here.bot_says("Interrupted", thread)
            (resume,) = [id_ for id_, label in here.fake.buttons(notice).items() if "Resume" in label]
            here.fake.press(here.alice, notice, resume)
            await here.bot_says("It is done.", thread)
        assert place.phone.truth.toggles["bluetooth"]
        _nothing_twice(place)


def _nothing_twice(place: Place) -> None:
    """Every receipt names one command."""
    receipts = Counter(entry.receipt for entry in place.phone.journal.entries if entry.receipt)
    assert receipts
    assert [receipt for receipt, count in receipts.items() if count > 1] == []


async def _received(place: Place, command: str) -> None:
    async with asyncio.timeout(LIMIT):
        while not any(command in " ".join(entry.argv) for entry in place.phone.journal.entries if entry.receipt):
            await asyncio.sleep(0.001)


async def test_slash_command(place: Place) -> None:
    async with town(*BLUETOOTH) as here, place.service(**here.settings):
        await here.fake.connected()
        here.fake.slash(here.alice, here.channel, "do", {"task": "switch Bluetooth on"})
        thread = await here.thread()
        await here.bot_says("It is done.", thread)
        assert place.phone.truth.toggles["bluetooth"]
        assert here.fake.whispers(here.channel)


async def test_stop_in_between_is_continued_by_resume(place: Place) -> None:
    acts = [
        call("open_app", name="Settings", say="Opening Settings"),
        call("wait", seconds=10),
        tap("Bluetooth"),
        FINISH,
    ]
    async with town(*acts) as here:
        async with place.service(**here.settings):
            await here.fake.connected()
            here.fake.say(here.alice, here.channel, "!opengui do switch Bluetooth on")
            thread = await here.thread()
            await here.bot_says("Opening Settings", thread)
        async with place.service(**here.settings):
            await here.fake.connected()
            await here.bot_says("Interrupted", thread)
            here.fake.say(here.alice, thread, "!opengui resume")
            await here.bot_says("It is done.", thread)
