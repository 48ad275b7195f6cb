"""From a message in Slack to a changed phone and back, with every real part in between."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.end_to_end.brain import FINISH, Act, brain, call, on, tap
from tests.end_to_end.service import Place
from tests.fakes.model_server import ModelServer
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, Channel, FakeSlack, Message, User

LIMIT = 60.0
CODE = re.compile(r"\b[A-Z2-9]{8}\b")


@dataclass
class Town:
    """A listed channel with a listed person in it; the service's settings to be there."""

    fake: FakeSlack
    alice: User
    channel: Channel
    settings: dict[str, str]

    async def bot_says(self, words: str, channel: Channel | None = None) -> Message:
        """The bot's first message with these words."""

        def found() -> list[Message]:
            return [message for message in self.fake.from_bot(channel or self.channel) if words in message.shown]

        await self.fake.wait_until(found, timeout=LIMIT)
        return found()[0]


@asynccontextmanager
async def town(*acts: Act) -> AsyncIterator[Town]:
    """A town, and a model endpoint that does these acts."""
    async with FakeSlack() as fake, ModelServer(brain(*acts)) as model:
        alice, channel = fake.user("alice"), fake.channel()
        settings = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_BASE_URL": fake.base_url,
            "SLACK_ALLOWED_TEAM_IDS": fake.world.team,
            "SLACK_ALLOWED_CHANNEL_IDS": channel.id,
            "SLACK_ALLOWED_USER_IDS": alice.id,
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
        }
        yield Town(fake, alice, channel, settings)
        assert fake.gaps == []


BLUETOOTH = [call("open_app", name="Settings"), tap("Bluetooth"), FINISH]
DELETION = [call("open_app", name="Notes"), tap("Groceries"), tap("Delete"), FINISH]


async def test_a_message_changes_the_phone_and_its_thread_tells_it(place: Place) -> None:
    async with town(*BLUETOOTH) as here, place.service(**here.settings) as service:
        await here.fake.connected()
        asked = here.fake.say(here.alice, here.channel, "@opengui do switch Bluetooth on")
        final = await here.bot_says("It is done.")
        assert place.phone.truth.toggles["bluetooth"]
        assert asked.reactions == ["eyes"]
        said = here.fake.from_bot(here.channel)
        assert {message.thread for message in said} == {asked.ts}
        assert sum("It is done." in message.shown for message in said) == 1
        assert final.pictures
        assert [message for message in said if message.edits]
        assert not any(secret in service.log for secret in (BOT_TOKEN, APP_TOKEN, "ticket=t"))


async def test_strangers_move_nothing(place: Place) -> None:
    """Seen failing with `authorize` always allowing: the phone is then touched for each of them."""
    async with town(*BLUETOOTH) as here, place.service(**here.settings):
        await here.fake.connected()
        other = here.fake.channel("other")
        text = "@opengui do switch Bluetooth on"
        here.fake.say(here.fake.user("mallory"), here.channel, text)
        here.fake.say(here.alice, other, text)
        here.fake.say(here.fake.user("partner", team="T0PARTNER"), here.channel, text)
        here.fake.say(here.fake.user("robot", bot=True), here.channel, text)
        here.fake.say(here.alice, here.channel, "@opengui whoami")
        await here.bot_says(here.alice.id)
        _, tasks, _ = await place.opengui("tasks", "--json")
        assert tasks == ""
        assert len(here.fake.from_bot(here.channel)) == 1
        assert not [entry for entry in place.phone.journal.entries if entry.receipt]


async def test_a_question_outlives_a_kill_and_is_answered_by_its_button(place: Place) -> None:
    async with town(*DELETION) as here:
        async with place.service(**here.settings) as service:
            await here.fake.connected()
            here.fake.say(here.alice, here.channel, "@opengui do delete my note about groceries")
            question = await here.bot_says("in Notes?")
            await service.kill()
        assert place.phone.truth.notes
        async with place.service(**here.settings):
            await here.fake.connected()
            (allow,) = [data for data, label in question.buttons.items() if "Allow" in label]
            here.fake.press(here.alice, question, allow)
            await here.bot_says("It is done.")
        assert place.phone.truth.notes == ()
        assert sum("It is done." in message.shown for message in here.fake.from_bot(here.channel)) == 1
        receipts = Counter(entry.receipt for entry in place.phone.journal.entries if entry.receipt)
        assert [receipt for receipt, count in receipts.items() if count > 1] == []


async def test_a_code_is_answered_in_the_thread_and_it_is_said_that_it_stays(place: Place) -> None:
    acts = [
        call("open_app", name="Account"),
        on("User name", "type", text="anna", submit=True),
        on("6-digit code", "enter_secret", question="Which code came to your phone?", submit=True),
        FINISH,
    ]
    async with town(*acts) as here, place.service(**here.settings) as service:
        await here.fake.connected()
        asked = here.fake.say(here.alice, here.channel, "@opengui do sign in as anna")
        await here.bot_says("wants a password or code")
        here.fake.say(here.alice, here.channel, "246810", thread=asked.ts)
        await here.bot_says("It is done.")
        await here.bot_says("delete")
        assert place.phone.truth.signed_in == "anna"
        assert "246810" not in service.log


async def test_a_slash_command_begins_a_task_that_a_button_stops_within_a_second(place: Place) -> None:
    acts = [call("open_app", name="Settings", say="Opening Settings"), *[call("wait", seconds=10)] * 5, *BLUETOOTH]
    async with town(*acts) as here, place.service(**here.settings):
        await here.fake.connected()
        number = here.fake.slash(here.alice, here.channel, "do switch Bluetooth on")
        await here.bot_says("Opening Settings")
        (card,) = [one for one in here.fake.from_bot(here.channel) if any("stop" in data for data in one.buttons)]
        assert card.thread in {one.ts for one in here.fake.from_bot(here.channel, "")}
        assert here.fake.whispers(number)
        (stop,) = [data for data in card.buttons if data.startswith("1:stop:")]
        began = time.monotonic()
        here.fake.press(here.alice, card, stop)
        await here.fake.wait_until(lambda: stop not in card.buttons, timeout=LIMIT)
        assert time.monotonic() - began < 1.0
        _, tasks, _ = await place.opengui("tasks", "--json")
        assert '"cancelled"' in tasks
        assert not place.phone.truth.toggles["bluetooth"]


async def test_a_file_goes_to_the_phone_and_comes_back(place: Place) -> None:
    photo = bytes(range(256)) * 1000
    acts = [call("send_file", path="/sdcard/Pictures/OpenGUI/1-1/photo.jpg"), FINISH]
    async with town(*acts) as here, place.service(**here.settings):
        await here.fake.connected()
        private = here.fake.private(here.alice)
        here.fake.say(here.alice, private, "@opengui do send me this photo back", files=[("photo.jpg", photo)])
        await here.bot_says("It is done.", private)
        assert place.phone.files.read("/sdcard/Pictures/OpenGUI/1-1/photo.jpg") == photo

        def back() -> bool:
            return any(file.data == photo for one in here.fake.from_bot(private) for file in one.files)

        await here.fake.wait_until(back, timeout=LIMIT)


async def test_pairing_lets_somebody_in(place: Place) -> None:
    async with town(*BLUETOOTH) as here:
        lists = dict.fromkeys((name for name in here.settings if "_ALLOWED_" in name), "")
        async with place.service(**here.settings | lists | {"PAIRING": "on"}):
            await here.fake.connected()
            private = here.fake.private(here.alice)
            here.fake.say(here.alice, private, "@opengui do open settings")
            await here.fake.wait_until(lambda: here.fake.from_bot(private), timeout=LIMIT)
            found = CODE.search(here.fake.from_bot(private)[0].shown)
            assert found is not None
            assert (await place.opengui("pair", found[0]))[0] == 0
            here.fake.say(here.alice, private, "@opengui whoami")
            await here.bot_says(here.alice.id, private)
