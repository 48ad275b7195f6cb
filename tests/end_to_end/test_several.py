"""One task on two phones: from a message in Telegram or Discord to both phones and back, and over a kill."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from devices.virtual_phone.phone import VirtualPhone
from tests.end_to_end.brain import FINISH, NotOnScreen, call, find
from tests.end_to_end.service import Place
from tests.end_to_end.test_discord import town_with
from tests.end_to_end.test_telegram import LIMIT, Town
from tests.fakes.model_server import Answer, ModelServer, Recorded
from tests.fakes.telegram import TOKEN, FakeTelegram, Message

ASKED = "/do --device all switch Bluetooth on"


class Switching:
    """Switches Bluetooth on wherever it is asked, by what it sees; `held` keeps it from coming to an end."""

    def __init__(self) -> None:
        self.held = False

    def __call__(self, request: Recorded) -> Answer:
        if "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "simple", "need_plan": False, "answer": ""}))
        if "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": True}))
        if "You write captions" in request.text:
            return Answer(text="Working on the phone")
        try:
            row = find(request, "Bluetooth")
        except NotOnScreen:
            return call("open_app", name="Settings")(request)
        if "Off" in row.caption.split(" · "):
            return call("tap", element=int(row.number))(request)
        return call("wait", seconds=1)(request) if self.held else FINISH(request)


@pytest.fixture
async def second(place: Place) -> AsyncIterator[VirtualPhone]:
    """Another phone on the same adb server; the service uses both."""
    async with VirtualPhone("virtual-2", number=2) as phone:
        await place.adb.connect(phone.address)
        place.settings["ANDROID_SERIALS"] = f"{place.phone.address},{phone.address}"
        place.settings["PHONE_NAMES"] = f"{place.phone.address}=Pixel,{phone.address}=Nokia"
        try:
            yield phone
        finally:
            await place.adb.disconnect(phone.address)


@asynccontextmanager
async def town(agent: Switching) -> AsyncIterator[Town]:
    async with FakeTelegram() as fake, ModelServer(agent) as model:
        alice, group = fake.user("alice"), fake.group()
        settings = {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_BASE_URL": fake.base_url,
            "TELEGRAM_ALLOWED_CHAT_IDS": str(group.id),
            "TELEGRAM_ALLOWED_USER_IDS": str(alice.id),
            "VLM_BASE_URL": model.base_url,
            "VLM_MODEL": "a-model",
        }
        yield Town(fake, alice, group, settings)


def finals(here: Town) -> list[Message]:
    return [message for message in here.fake.from_bot(here.group) if "Done on 2 of 2 phones." in message.text]


async def test_one_message_two_phones_one_end(place: Place, second: VirtualPhone) -> None:
    async with town(Switching()) as here, place.service(**here.settings):
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, ASKED)
        final = await here.bot_says("Done on 2 of 2 phones.", here.group)
        assert place.phone.truth.toggles["bluetooth"]
        assert second.truth.toggles["bluetooth"]
        assert sorted(re.findall(r"\d\. (.+): Done\. It is done\.", final.text)) == ["Nokia", "Pixel"]
        assert finals(here) == [final]
        cards = [message for message in here.fake.from_bot(here.group) if message.id != final.id]
        assert len({message.id for message in cards if message.text.startswith("Task 1 · ")}) == 1
        code, out, _ = await place.opengui("tasks", "--json")
        assert code == 0
        assert [(row["task"], row["phones"]) for row in map(json.loads, out.splitlines())] == [("1", 2)]


async def test_in_discord_it_is_one_thread_with_one_card_and_one_end(place: Place, second: VirtualPhone) -> None:
    async with town_with(Switching()) as here, place.service(**here.settings):
        await here.fake.connected()
        here.fake.say(here.alice, here.channel, f"!opengui {ASKED.removeprefix('/')}")
        thread = await here.thread()
        final = await here.bot_says("Done on 2 of 2 phones.", thread)
        assert place.phone.truth.toggles["bluetooth"]
        assert second.truth.toggles["bluetooth"]
        told = final.content.replace("\\", "")  # Discord's markdown is escaped
        assert sorted(re.findall(r"\d\. (.+): Done\. It is done\.", told)) == ["Nokia", "Pixel"]
        assert here.threads() == [thread]
        said = here.fake.from_bot(thread)
        assert [message for message in said if "Done on 2 of 2 phones." in message.content] == [final]
        assert len([message for message in said if message.edited_timestamp is not None]) == 1, "its card"
        assert str(here.alice.id) in final.content


async def test_a_kill_in_the_middle_leaves_one_end(place: Place, second: VirtualPhone) -> None:
    agent = Switching()
    agent.held = True
    async with town(agent) as here:
        async with place.service(**here.settings) as service:
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, ASKED)
            await here.fake.wait_until(
                lambda: place.phone.truth.toggles["bluetooth"] and second.truth.toggles["bluetooth"], timeout=LIMIT
            )
            await service.kill()
        agent.held = False
        async with place.service(**here.settings):
            await here.fake.connected()
            notice = await here.bot_says("Interrupted", here.group)
            (resume,) = [data for data, label in notice.buttons.items() if "Resume" in label]
            await here.fake.press(here.alice, notice, resume)
            await here.bot_says("Done on 2 of 2 phones.", here.group)
            await here.fake.say(here.alice, here.group, "/tasks")
            await here.bot_says("Recent tasks", here.group)
        assert len(finals(here)) == 1
        for phone in (place.phone, second):
            assert phone.truth.toggles["bluetooth"]
            receipts = [entry.receipt for entry in phone.journal.entries if entry.receipt]
            assert len(receipts) == len(set(receipts))
