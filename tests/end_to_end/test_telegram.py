"""From a message in Telegram to a changed phone and back, with every real part in between."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.end_to_end.brain import FINISH, Act, brain, call, on, tap
from tests.end_to_end.service import Place
from tests.fakes.model_server import ModelServer
from tests.fakes.telegram import TOKEN, Chat, FakeTelegram, Message, User

LIMIT = 60.0


@dataclass
class Town:
    """A listed person and a listed group; the service's settings to be there."""

    fake: FakeTelegram
    alice: User
    group: Chat
    settings: dict[str, str]

    async def bot_says(self, words: str, chat: Chat) -> Message:
        """The bot's first message with these words."""

        def found() -> list[Message]:
            return [message for message in self.fake.from_bot(chat) if words in message.text]

        await self.fake.wait_until(found, timeout=LIMIT)
        return found()[0]


@asynccontextmanager
async def town(*acts: Act) -> AsyncIterator[Town]:
    """A town, and a model endpoint that does these acts."""
    async with FakeTelegram() as fake, ModelServer(brain(*acts)) as model:
        alice = fake.user("alice")
        group = fake.group()
        settings = {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_BASE_URL": fake.base_url,
            "TELEGRAM_ALLOWED_CHAT_IDS": str(group.id),
            "TELEGRAM_ALLOWED_USER_IDS": str(alice.id),
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
        }
        yield Town(fake, alice, group, settings)


def bluetooth_is_on(place: Place) -> bool:
    return place.phone.truth.toggles["bluetooth"]


BLUETOOTH = [call("open_app", name="Settings"), tap("Bluetooth"), FINISH]


async def test_a_message_changes_the_phone_and_the_chat_tells_it(place: Place) -> None:
    async with town(*BLUETOOTH) as here, place.service(**here.settings) as service:
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do@" + here.fake.bot.username + " switch Bluetooth on")
        final = await here.bot_says("It is done.", here.group)
        assert place.phone.truth.toggles["bluetooth"]
        assert "42" in final.text
        said = here.fake.from_bot(here.group)
        assert sum("It is done." in message.text for message in said) == 1
        assert final.file is not None
        assert final.file.name == "recap.gif", "the recap is the final message's own picture"
        assert TOKEN not in service.log


async def test_a_photo_goes_to_the_phone_and_comes_back(place: Place) -> None:
    photo = os.urandom(300_000)
    acts = [call("send_file", path="/sdcard/Pictures/OpenGUI/1-1/photo.jpg"), FINISH]
    async with town(*acts) as here, place.service(**here.settings):
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do send me this photo back", photo=("", photo))
        await here.bot_says("It is done.", here.group)
        assert place.phone.files.read("/sdcard/Pictures/OpenGUI/1-1/photo.jpg") == photo

        def back() -> bool:
            said = here.fake.from_bot(here.group)
            return any(message.file is not None and message.file.data == photo for message in said)

        await here.fake.wait_until(back, timeout=LIMIT)


async def test_a_code_is_answered_by_a_reply_after_a_kill(place: Place) -> None:
    acts = [
        call("open_app", name="Account"),
        on("User name", "type", text="anna", submit=True),
        on("6-digit code", "enter_secret", question="Which code came to your phone?", submit=True),
        FINISH,
    ]
    async with town(*acts) as here:
        async with place.service(**here.settings) as service:
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, "/do sign in as anna")
            question = await here.bot_says("wants a password or code", here.group)
            await service.kill()
        async with place.service(**here.settings):
            await here.fake.connected()
            answer = await here.fake.say(here.alice, here.group, "246810", reply_to=question)
            await here.bot_says("It is done.", here.group)
            assert answer.id not in [message.id for message in here.fake.messages(here.group)]
        assert place.phone.truth.signed_in == "anna"


async def test_an_approval_is_given_by_a_button(place: Place) -> None:
    acts = [call("open_app", name="Notes"), tap("Groceries"), tap("Delete"), FINISH]
    async with town(*acts) as here, place.service(**here.settings):
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do delete my note about groceries")
        question = await here.bot_says("in Notes?", here.group)
        assert place.phone.truth.notes
        (allow,) = [data for data, label in question.buttons.items() if "Allow" in label]
        await here.fake.press(here.alice, question, allow)
        await here.bot_says("It is done.", here.group)
        assert place.phone.truth.notes == ()


async def test_what_was_written_at_night_waits_for_a_press(place: Place) -> None:
    async with town(*BLUETOOTH) as here:
        await here.fake.say(here.alice, here.group, "/do switch Bluetooth on", age=3600)
        async with place.service(**here.settings):
            listed = await here.bot_says("switch Bluetooth on", here.group)
            assert "while I was away" in listed.text
            assert not bluetooth_is_on(place)
        async with place.service(**here.settings):
            await here.fake.connected()
            (run,) = listed.buttons
            await here.fake.press(here.alice, listed, run)
            await here.bot_says("It is done.", here.group)
            assert bluetooth_is_on(place)
            assert "done now" in listed.text


async def test_a_command_comes_in_by_the_webhook_and_the_next_start_polls_again(place: Place) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    async with town(*BLUETOOTH) as here:
        hook = {"TELEGRAM_WEBHOOK_URL": f"http://127.0.0.1:{port}/hook", "TELEGRAM_WEBHOOK_PORT": port}
        async with place.service(**here.settings, **hook) as service:
            await service.says("updates come to the webhook")
            await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
            await here.bot_says("It is done.", here.group)
            assert place.phone.truth.toggles["bluetooth"]
            assert here.fake.polling.started == 0
            assert here.fake.webhooks.secret not in service.log
        async with place.service(**here.settings):
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, "/whoami")
            await here.bot_says(str(here.alice.id), here.group)


async def test_strangers_move_nothing(place: Place) -> None:
    """Seen failing with `authorize` always allowing: the phone is then touched for each of them."""
    async with town(*BLUETOOTH) as here, place.service(**here.settings):
        await here.fake.connected()
        mallory = here.fake.user("mallory")
        await here.fake.say(mallory, here.group, "/do switch Bluetooth on")
        await here.fake.say(mallory, here.fake.private(mallory), "/do switch Bluetooth on")
        await here.fake.say(here.alice, here.fake.group("Elsewhere"), "/do switch Bluetooth on")
        await here.fake.say(here.alice, here.group, "/whoami")
        await here.bot_says(str(here.alice.id), here.group)
        _, tasks, _ = await place.opengui("tasks", "--json")
        assert tasks == ""
        assert here.fake.from_bot(here.fake.private(mallory)) == []
        assert not [entry for entry in place.phone.journal.entries if entry.receipt]


async def test_messages_to_one_person_are_allowed_for_the_task_over_a_kill(place: Place) -> None:
    """The third button of the first question, then kill -9: the next process sends the second message to Bob unasked,
    and asks about one to Alice.
    """

    def sent() -> list[tuple[str, str]]:
        return [(each.to, each.text) for each in place.phone.truth.messages]

    def written(text: str) -> list[Act]:
        return [on("Text message", "type", text=text), tap("Send")]

    first = [call("open_app", name="Messages"), tap("Bob"), *written("first"), call("wait", seconds=10)]
    away = [call("key", key="back")] * 2  # the keyboard, then the conversation
    acts = [*first, *written("second"), *away, tap("Alice"), *written("third"), FINISH]
    async with town(*acts) as here:
        async with place.service(**here.settings) as service:
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, "/do write to Bob and Alice")
            question = await here.bot_says("first” to Bob in Messages?", here.group)
            (allow,) = [data for data, label in question.buttons.items() if "Bob for this task" in label]
            await here.fake.press(here.alice, question, allow)
            await here.fake.wait_until(lambda: ("Bob", "first") in sent(), timeout=LIMIT)
            await service.kill()
        async with place.service(**here.settings):
            await here.fake.connected()
            notice = await here.bot_says("Interrupted", here.group)
            (resume,) = [data for data, label in notice.buttons.items() if "Resume" in label]
            await here.fake.press(here.alice, notice, resume)
            other = await here.bot_says("third” to Alice in Messages?", here.group)
            (deny,) = [data for data, label in other.buttons.items() if label == "Deny"]
            await here.fake.press(here.alice, other, deny)
            await here.bot_says("Not done, because a person did not allow it", here.group)
        assert sent().count(("Bob", "second")) == 1
        assert ("Alice", "third") not in sent()
        assert not [one for one in here.fake.from_bot(here.group) if "second” to Bob" in one.text]
