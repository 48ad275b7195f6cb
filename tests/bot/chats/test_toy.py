"""A platform that another package brings keeps the contract of every chat, as far as its capabilities say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from bot.cards.buttons import stop_button
from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.incoming import Incoming, Invocation, Press
from bot.domain.outgoing import Reply
from tests.bot.chats.contract import ChatContract, Shown, card
from tests.bot.chats.talk_contract import OwnWordsContract
from tests.toy_platform.chat import ACCOUNT, PLATFORM, ToyChat
from tests.toy_platform.server import TOKEN, ToyServer, toy_server

pytestmark = pytest.mark.slow


class Kept:
    """An intake that keeps what was written and pressed."""

    def __init__(self) -> None:
        self.written: asyncio.Queue[Incoming] = asyncio.Queue()
        self.pressed: asyncio.Queue[Press] = asyncio.Queue()

    async def message(self, incoming: Incoming) -> Reply:
        self.written.put_nowait(incoming)
        return Reply()

    async def invoke(self, invocation: Invocation) -> Reply:
        raise AssertionError(invocation)

    async def press(self, press: Press) -> Reply:
        self.pressed.put_nowait(press)
        return Reply()

    def suggestions(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        raise AssertionError((person, place, option, typed))


class ToyBench:
    origin = Address(PLATFORM, ACCOUNT, "playroom")
    person = Person(PLATFORM, "anna", "anna")

    def __init__(self, chat: ToyChat, server: ToyServer, intake: Kept) -> None:
        self.chat, self._server, self._intake = chat, server, intake

    async def shown(self, place: Address) -> Sequence[Shown]:
        return [
            Shown(
                id=number,
                text=one["text"],
                buttons=tuple(one["buttons"]),
                files=tuple(name for name, _ in one["files"]),
                mentions=(one["mention"],) if one["mention"] else (),
                silent=not one["ring"],
                reply_to=one["reply_to"],
            )
            for number, one in self._server.messages.items()
            if one["chat"] == place.chat
        ]

    async def remove(self, ref: MessageRef) -> None:
        del self._server.messages[ref.message]

    async def lose(self, place: Address) -> None:
        self._server.lost.add(place.chat)

    async def press(self, ref: MessageRef, data: str) -> Press:
        self._server.presses(self.person.id, ref.message, data)
        return await asyncio.wait_for(self._intake.pressed.get(), 10)

    async def pass_on(self, text: str) -> Incoming:
        self._server.says(self.person.id, text, self.origin.chat, by="bob")
        return await asyncio.wait_for(self._intake.written.get(), 10)

    async def flood(self, seconds: float) -> None:
        self._server.flood = seconds


@pytest.fixture
async def bench() -> AsyncIterator[ToyBench]:
    async with toy_server() as server:
        intake = Kept()
        chat = ToyChat(TOKEN, server.address, intake)
        running = asyncio.create_task(chat.run())
        await asyncio.wait_for(chat.connected.wait(), 10)
        yield ToyBench(chat, server, intake)
        await chat.close()
        await asyncio.wait({running})


class TestToyChat(ChatContract, OwnWordsContract):
    async def test_a_button_comes_back_as_a_press(self, bench: ToyBench) -> None:
        ref = await bench.chat.send(bench.origin, card("Step 1"), nonce="o20")
        press = await bench.press(ref, stop_button("7").data)
        assert (press.data, press.message, press.person) == (stop_button("7").data, ref, bench.person)
