"""From a message in Feishu to a changed phone and back, with every real part in between."""

from __future__ import annotations

import os
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from tests.end_to_end.brain import FINISH, Act, brain, call, on, tap
from tests.end_to_end.service import Place
from tests.fakes.feishu import APP, SECRET, Chat, FakeFeishu, Message, User
from tests.fakes.feishu.world import ELSEWHERE
from tests.fakes.model_server import ModelServer

LIMIT = 60.0
CODE = re.compile(r"\b[A-Z2-9]{8}\b")


@dataclass
class Town:
    """A listed person in a listed group; the service's settings to be there."""

    fake: FakeFeishu
    alice: User
    group: Chat
    settings: dict[str, str]

    async def bot_says(self, words: str, chat: Chat, thread: str = "") -> Message:
        """The bot's first message with these words."""

        def found() -> list[Message]:
            return [message for message in self.fake.from_bot(chat, thread) if words in message.text]

        await self.fake.wait_until(found, timeout=LIMIT)
        return found()[0]


@asynccontextmanager
async def town(*acts: Act) -> AsyncIterator[Town]:
    async with FakeFeishu() as fake, ModelServer(brain(*acts)) as model:
        alice, group = fake.user("alice"), fake.group()
        settings = {
            "FEISHU_APP_ID": APP,
            "FEISHU_APP_SECRET": SECRET,
            "FEISHU_DOMAIN": fake.base_url,
            "FEISHU_ALLOWED_CHAT_IDS": group.id,
            "FEISHU_ALLOWED_USER_IDS": alice.id,
            "LANGUAGE": "en",
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
        }
        yield Town(fake, alice, group, settings)
        assert fake.gaps == []


async def test_a_message_changes_the_phone_and_its_thread_tells_it(place: Place) -> None:
    """People who are not listed move nothing meanwhile."""
    acts = [call("open_app", name="Settings"), tap("Bluetooth"), FINISH]
    async with town(*acts) as here, place.service(**here.settings) as service:
        await here.fake.connected()
        mallory = here.fake.user("mallory")
        await here.fake.say(mallory, here.group, "do delete everything")
        await here.fake.say(mallory, here.fake.private(mallory), "/do delete everything")
        asked = await here.fake.say(here.alice, here.group, "do switch Bluetooth on")
        final = await here.bot_says("It is done.", here.group, asked.id)
        assert place.phone.truth.toggles["bluetooth"]
        said = here.fake.from_bot(here.group, asked.id)
        assert sum("It is done." in message.text for message in said) == 1
        assert final.image or any(message.image for message in said)
        assert asked.reactions == ["OnIt"]
        assert [
            one for one in here.fake.messages.values() if one.chat is here.fake.private(mallory) and not one.sender
        ] == []
        for secret in (SECRET, *here.fake.tokens, "ticket-", "key-secret"):
            assert secret not in service.log


async def test_a_question_is_answered_by_its_button_after_a_kill(place: Place) -> None:
    acts = [call("open_app", name="Notes"), tap("Groceries"), tap("Delete"), FINISH]
    async with town(*acts) as here:
        async with place.service(**here.settings) as service:
            await here.fake.connected()
            asked = await here.fake.say(here.alice, here.group, "do delete my note about groceries")
            question = await here.bot_says("in Notes?", here.group, asked.id)
            assert place.phone.truth.notes
            await service.kill()
        (allow,) = [data for data, label in question.buttons.items() if "Allow" in label]
        # What was done already comes again, as Feishu does it, and the button is pressed while nobody is there.
        await here.fake.gateway.deliver(here.fake.event_of(asked))
        async with place.service(**here.settings):
            await here.fake.connected()
            await here.fake.press(here.alice, question, allow)
            await here.bot_says("It is done.", here.group, asked.id)
            assert place.phone.truth.notes == ()
            await here.fake.wait_until(lambda: not here.fake.gateway.pending)
        said = here.fake.from_bot(here.group, asked.id)
        assert sum("It is done." in message.text for message in said) == 1


async def test_a_picture_goes_to_the_phone_and_comes_back(place: Place) -> None:
    photo = os.urandom(300_000)
    acts = [call("send_file", path="/sdcard/Pictures/OpenGUI/1-1/photo.jpg"), FINISH]
    async with town(*acts) as here, place.service(**here.settings):
        await here.fake.connected()
        private = here.fake.private(here.alice)
        sent = await here.fake.post(here.alice, private, "image", {"image_key": here.fake.file("", photo)})
        await here.fake.say(here.alice, private, "/do send me this picture back", reply_to=sent)
        await here.bot_says("It is done.", private)
        assert place.phone.files.read("/sdcard/Pictures/OpenGUI/1-1/photo.jpg") == photo

        def back() -> bool:
            keys = [one.content["file_key"] for one in here.fake.from_bot(private) if one.kind == "file"]
            return any(here.fake.files[key][1] == photo for key in keys)

        await here.fake.wait_until(back, timeout=LIMIT)


async def test_a_task_in_private_is_stopped_by_its_card_within_a_second(place: Place) -> None:
    acts = [call("open_app", name="Settings", say="Opening Settings"), *[call("wait", seconds=10) for _ in range(20)]]
    async with town(*acts) as here, place.service(**here.settings):
        await here.fake.connected()
        private = here.fake.private(here.alice)
        asked = await here.fake.say(here.alice, private, "/do wait for a while")
        card = await here.bot_says("Opening Settings", private)
        assert card.parent == asked.id
        (stop,) = [data for data, label in card.buttons.items() if "Stop" in label]
        began = time.monotonic()
        await here.fake.press(here.alice, card, stop)
        await here.fake.wait_until(lambda: stop not in card.buttons, timeout=LIMIT)
        assert time.monotonic() - began < 1.0
        await here.bot_says("Cancelled", private)
        _, tasks, _ = await place.opengui("tasks", "--json")
        assert '"cancelled"' in tasks


@pytest.mark.parametrize("may_delete", [True, False])
async def test_a_code_is_answered_by_a_reply_and_deleted_where_the_bot_may(place: Place, may_delete: bool) -> None:
    acts = [
        call("open_app", name="Account"),
        on("User name", "type", text="anna", submit=True),
        on("6-digit code", "enter_secret", question="Which code came to your phone?", submit=True),
        FINISH,
    ]
    async with town(*acts) as here, place.service(**here.settings) as service:
        here.group.bot_admin = may_delete
        await here.fake.connected()
        asked = await here.fake.say(here.alice, here.group, "do sign in as anna")
        question = await here.bot_says("wants a password or code", here.group, asked.id)
        code = await here.fake.say(here.alice, here.group, "246810", reply_to=question, in_thread=True)
        await here.bot_says("It is done.", here.group, asked.id)
        assert place.phone.truth.signed_in == "anna"
        if may_delete:
            await here.fake.wait_until(lambda: code.recalled, timeout=LIMIT)
        else:
            await here.bot_says("delete", here.group, asked.id)
            assert not code.recalled
        assert "246810" not in service.log


async def test_pairing_lets_somebody_in(place: Place) -> None:
    async with town() as here:
        lists = dict.fromkeys((name for name in here.settings if "_ALLOWED_" in name), "")
        async with place.service(**here.settings | lists | {"PAIRING": "on"}):
            await here.fake.connected()
            private = here.fake.private(here.alice)
            await here.fake.say(here.alice, private, "/do open settings")
            await here.fake.wait_until(lambda: here.fake.from_bot(private), timeout=LIMIT)
            found = CODE.search(here.fake.from_bot(private)[0].text)
            assert found is not None
            assert (await place.opengui("pair", found[0]))[0] == 0
            await here.fake.say(here.alice, private, "/whoami")
            await here.bot_says(here.alice.id, private)


async def test_strangers_move_nothing(place: Place) -> None:
    """Nor what an app has written, whoever's name it has. Seen failing (tasks are accepted) with `authorize` always
    allowing, and without the look at the sender's type.
    """
    async with town(FINISH) as here, place.service(**here.settings):
        await here.fake.connected()
        text = "do switch Bluetooth on"
        await here.fake.say(here.fake.user("mallory"), here.group, text)
        await here.fake.say(here.alice, here.fake.group(), text)
        await here.fake.say(here.fake.user("partner", tenant=ELSEWHERE), here.group, text)
        said = here.fake.keep(Message("om_robot", here.group, "text", {"text": f"/{text}"}, here.alice))
        event = here.fake.event_of(said)
        event["event"]["sender"]["sender_type"] = "app"
        await here.fake.gateway.deliver(event)
        asked = await here.fake.say(here.alice, here.group, "whoami")
        await here.fake.wait_until(lambda: any(one.parent == asked.id for one in here.fake.messages.values()))
        await here.fake.wait_until(lambda: not here.fake.gateway.pending)
        _, tasks, _ = await place.opengui("tasks", "--json")
        assert tasks == ""
        assert len([one for one in here.fake.messages.values() if one.sender is None]) == 1
        assert not [entry for entry in place.phone.journal.entries if entry.receipt]
