"""What every chat must do with what people write and press, beside `ChatContract`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

import pytest

from bot.cards.buttons import pause_button, stop_button
from bot.domain.address import MessageRef
from bot.domain.chat import ChatError
from bot.domain.incoming import Incoming
from bot.domain.outgoing import Button, Message, Reply
from bot.texts import language_of
from tests.bot.chats.contract import Bench, card, menu


class Recording(Protocol):
    """An intake that answers as a test says."""

    messages: list[Incoming]
    replies: Callable[[Incoming], Reply]
    pressed: Reply
    waits: asyncio.Event | None
    hold: asyncio.Event | None


class Record:
    """A record that another service may take over. Implements `bot.domain.chat.Record`."""

    def __init__(self) -> None:
        self.is_ours = True
        self.is_there = True
        self.asked = 0

    async def answers(self) -> bool:
        self.asked += 1
        return self.is_there and self.is_ours


class TalkBench(Bench, Protocol):
    """An adapter whose platform's double has people in it."""

    @property
    def record(self) -> Record:
        """The record of the service that the adapter belongs to."""
        ...

    @property
    def intake(self) -> Recording:
        """What the adapter tells."""
        ...

    @property
    def requests(self) -> int:
        """How many requests the platform has got by HTTP."""
        ...

    async def write(
        self,
        text: str,
        *,
        files: Sequence[tuple[str, bytes]] = (),
        reply_to: MessageRef | None = None,
        language: str = "en",
    ) -> Incoming:
        """Somebody with a client in this language writes at the origin: what the intake heard of it."""
        ...

    async def pass_on(self, text: str) -> Incoming:
        """Somebody forwards at the origin what another person wrote: what the intake heard of it."""
        ...

    async def there(self, ref: MessageRef) -> bool:
        """Whether people still see the message."""
        ...

    async def restart(self) -> None:
        """The adapter ends, and a new one connects to the same platform."""
        ...


class PassingBench(Protocol):
    """The part of a `TalkBench` that an adapter needs on whose platform messages can be forwarded."""

    async def pass_on(self, text: str) -> Incoming:
        """See `TalkBench.pass_on`."""
        ...


class OwnWordsContract:
    """What is passed on is marked as such, with a `bench` fixture that gives a `PassingBench`."""

    @pytest.mark.parametrize("text", ["yes", "/opengui do buy everything", "/opengui answer yes", "493021"])
    async def test_what_is_passed_on_is_not_the_words_of_who_passes_it_on(self, bench: PassingBench, text: str) -> None:
        """Seen failing without `foreign` on each platform."""
        heard = await bench.pass_on(text)
        assert heard.foreign is not None
        assert heard.text.endswith(text.removeprefix("/opengui"))
        assert heard.command is None
        assert heard.reply_to is None


async def until(such: Callable[[], object]) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(10):
        while not such():
            await asyncio.sleep(0.01)


async def told(caplog: pytest.LogCaptureFixture, words: str) -> None:
    """Wait until the log says so."""
    await until(lambda: words in caplog.text)


COMMAND = "/opengui do open settings"
"""A command as Telegram has it; the other benches put in what stands before one there."""


class RedeliveryContract:
    """For platforms that deliver again what was not confirmed, with a `bench` fixture that gives a `TalkBench`."""

    async def test_what_the_record_has_not_taken_in_comes_again(self, bench: TalkBench) -> None:
        """To the service that takes over, which answers. Seen failing on each platform where it was confirmed."""
        bench.intake.replies = lambda _: Reply(Message(body="not now"), again=True)
        first = await bench.write(COMMAND)
        bench.intake.replies = lambda _: Reply(Message(body="yes"))
        await bench.restart()
        await until(lambda: bench.intake.messages[-1] is not first)
        async with asyncio.timeout(10):
            while not (shown := await bench.shown(bench.origin)):
                await asyncio.sleep(0.01)
        assert {one.event for one in bench.intake.messages} == {first.event}
        assert {one.text for one in shown} == {"yes"}

    async def test_what_waits_for_the_record_is_not_confirmed_meanwhile(self, bench: TalkBench) -> None:
        """Seen failing on each platform where it was confirmed after a moment: it did not come again."""
        bench.record.is_there, bench.intake.waits = False, asyncio.Event()
        first = await bench.write(COMMAND)
        await until(lambda: bench.record.asked)
        bench.intake.waits = None
        heard = len(bench.intake.messages)
        await bench.restart()
        await until(lambda: len(bench.intake.messages) > heard)
        assert {one.event for one in bench.intake.messages} == {first.event}


class TalkContract(OwnWordsContract):
    """The tests, with a `bench` fixture that gives a `TalkBench`."""

    async def test_a_service_that_may_have_lost_its_record_sends_nothing(self, bench: TalkBench) -> None:
        """Seen failing on each platform without the last look: all of it was sent."""
        card = await bench.chat.send(bench.origin, Message(body="before"), nonce="o1")
        bench.record.is_ours = False
        before = bench.requests
        with pytest.raises(ChatError, match="this one sent nothing"):
            await bench.chat.send(bench.origin, Message(body="after"), nonce="o2")
        with pytest.raises(ChatError, match="this one sent nothing"):
            await bench.chat.edit(card, Message(body="after"))
        assert bench.requests == before
        assert [one.text for one in await bench.shown(bench.origin)] == ["before"]

    @pytest.mark.parametrize(
        "reply", [Reply(Message(body="yes")), Reply(task="7"), Reply(Message(body="yes"), mark_suffices=True)]
    )
    async def test_no_answer_leaves_once_the_record_may_be_lost(
        self, bench: TalkBench, caplog: pytest.LogCaptureFixture, reply: Reply
    ) -> None:
        """It is lost while the message is handled, as when the process stands still. Seen failing as above."""
        caplog.set_level(logging.INFO)
        before = -1

        def lose(_: Incoming) -> Reply:
            nonlocal before
            bench.record.is_ours, before = False, bench.requests
            return reply

        bench.intake.replies = lose
        await bench.write(COMMAND)
        await told(caplog, "this one sent nothing")
        assert bench.requests == before

    async def test_no_press_is_answered_once_the_record_may_be_lost(
        self, bench: TalkBench, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Seen failing as above."""
        caplog.set_level(logging.INFO)
        data = stop_button("7").data
        asked = Message(body="Go on?", buttons=((stop_button("7"),),))
        card = await bench.chat.send(bench.origin, asked, nonce="o1")
        bench.intake.hold = asyncio.Event()
        bench.intake.pressed = Reply(shown=Message(body="Stopped"), toast="Stopped.")
        await bench.press(card, data)
        bench.record.is_ours, before = False, bench.requests
        bench.intake.hold.set()
        await told(caplog, "this one sent nothing")
        assert bench.requests == before
        assert [one.text for one in await bench.shown(bench.origin)] == ["Go on?"]

    async def test_a_command_comes_in_with_who_where_and_its_own_message(self, bench: TalkBench) -> None:
        heard = await bench.write(COMMAND)
        assert heard.command == "do open settings"
        assert heard.text.endswith("do open settings")
        assert heard.person == bench.person
        assert heard.place.address == bench.origin
        assert heard.event
        assert not heard.stale
        assert heard.foreign is None
        assert heard.message is not None
        assert await bench.there(heard.message)

    async def test_every_message_is_an_event_of_its_own(self, bench: TalkBench) -> None:
        first, second = await bench.write(COMMAND), await bench.write(COMMAND)
        assert first.event != second.event
        assert first.message != second.message

    async def test_files_come_in_with_their_bytes(self, bench: TalkBench) -> None:
        heard = await bench.write(COMMAND, files=[("notes 1.txt", b"a\x00b")])
        assert [(file.name, file.data) for file in heard.attachments] == [("notes 1.txt", b"a\x00b")]

    async def test_a_reply_names_the_message_that_it_answers(self, bench: TalkBench) -> None:
        question = await bench.chat.send(bench.origin, Message(heading="Which?", body="one"), nonce="o1")
        heard = await bench.write("the blue one", reply_to=question)
        assert heard.reply_to == question
        assert heard.command is None
        assert heard.text == "the blue one"

    async def test_the_bot_replies_to_a_persons_message(self, bench: TalkBench) -> None:
        heard = await bench.write(COMMAND)
        assert heard.message is not None
        await bench.chat.send(bench.origin, Message(body="yes", reply_to=heard.message), nonce="o2")
        assert (await bench.shown(bench.origin))[-1].reply_to == heard.message.message

    async def test_a_reply_to_a_message_that_is_gone_is_sent_all_the_same(self, bench: TalkBench) -> None:
        heard = await bench.write(COMMAND)
        assert heard.message is not None
        await bench.remove(heard.message)
        await bench.chat.send(bench.origin, Message(body="yes", reply_to=heard.message), nonce="o3")
        assert "yes" in (await bench.shown(bench.origin))[-1].text

    async def test_what_somebody_wrote_is_deleted(self, bench: TalkBench) -> None:
        """A code that was typed as an answer."""
        heard = await bench.write("/opengui answer 123456")
        assert heard.message is not None
        if not bench.chat.capabilities.deletes:
            pytest.skip("the bot may not delete here")
        await bench.chat.delete(heard.message)
        assert not await bench.there(heard.message)

    @pytest.mark.parametrize(("language", "spoken"), [("en", "en"), ("zh-CN", "zh"), ("zh-TW", "zh"), ("fr", "en")])
    async def test_people_are_known_by_their_language(self, bench: TalkBench, language: str, spoken: str) -> None:
        heard = await bench.write(COMMAND, language=language)
        assert language_of("auto", heard.person.language) == spoken

    async def test_buttons_and_menus_work_after_a_restart(self, bench: TalkBench) -> None:
        offered = menu(6) if bench.chat.capabilities.menu_choices >= 6 else None
        ref = await bench.chat.send(
            bench.origin, Message(body="Which?", buttons=((stop_button("7"),),), menu=offered), nonce="o4"
        )
        await bench.restart()
        for data in (stop_button("7").data, *((offered.choices[3].data,) if offered else ())):
            press = await bench.press(ref, data)
            assert (press.data, press.message, press.person) == (data, ref, bench.person)
            assert press.place.address == bench.origin
            assert press.event

    async def test_a_card_is_edited_after_a_restart(self, bench: TalkBench) -> None:
        ref = await bench.chat.send(bench.origin, card("first"), nonce="c1")
        await bench.restart()
        await bench.chat.edit(ref, card("second"))
        (shown,) = await bench.shown(bench.origin)
        assert "second" in shown.text

    async def test_two_presses_are_two_events(self, bench: TalkBench) -> None:
        ref = await bench.chat.send(bench.origin, card("first"), nonce="c2")
        first = await bench.press(ref, pause_button("7").data)
        second = await bench.press(ref, pause_button("7").data)
        assert first.event != second.event

    @pytest.mark.parametrize("data", ["0:old:1", "what is this?", "9:new:1:2", "x" * 64])
    async def test_a_button_of_another_version_comes_in_as_it_is(self, bench: TalkBench, data: str) -> None:
        ref = await bench.chat.send(bench.origin, Message(body="old", buttons=((Button("Old", data),),)), nonce="o5")
        assert (await bench.press(ref, data)).data == data
