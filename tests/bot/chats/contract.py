"""What every chat must do, whatever the platform: the outbox relies on it.

An adapter's tests subclass `ChatContract` and give it a `bench` fixture: the adapter connected to its platform's
double, and a way to see what people would see.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pytest
from PIL import Image

from bot.cards.buttons import pause_button, stop_button
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Chat, ChatError, ChatGone, FloodWait
from bot.domain.incoming import Press
from bot.domain.outgoing import Button, Menu, Message, Picture


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as people see it: the text without markup, the data of the buttons, names of pictures and files."""

    id: str
    text: str
    buttons: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    """Ids of the people whom the message rings for by name; "everyone" for all."""
    silent: bool = False
    choices: tuple[str, ...] = ()
    """The data of a menu's choices, those on its other pages too."""
    reply_to: str = ""
    """The id of the message that it natively answers."""


class Bench(Protocol):
    """An adapter on its platform's double."""

    @property
    def chat(self) -> Chat:
        """The adapter, connected."""
        ...

    @property
    def origin(self) -> Address:
        """A place where people are and tasks are asked."""
        ...

    @property
    def person(self) -> Person:
        """Somebody there."""
        ...

    async def shown(self, place: Address) -> Sequence[Shown]:
        """What stands there now, oldest first, long texts put together from their parts and files included."""
        ...

    async def remove(self, ref: MessageRef) -> None:
        """Somebody deletes the message."""
        ...

    async def lose(self, place: Address) -> None:
        """The place goes away, or the bot is thrown out of it."""
        ...

    async def press(self, ref: MessageRef, data: str) -> Press:
        """Somebody presses the button of these data, or takes the choice of a menu: what the intake heard of it."""
        ...

    async def flood(self, seconds: float) -> None:
        """The next call is answered with: wait so long."""
        ...


def screenshot() -> Picture:
    """A small valid picture."""
    target = io.BytesIO()
    Image.new("RGB", (90, 160), (20, 120, 200)).save(target, "JPEG")
    return Picture("screen.jpg", target.getvalue())


def animation() -> bytes:
    """A small valid moving picture."""
    target = io.BytesIO()
    first, *others = [Image.new("RGB", (90, 160), (40 * number, 80, 80)) for number in range(3)]
    first.save(target, "GIF", save_all=True, append_images=others, duration=500)
    return target.getvalue()


def card(body: str) -> Message:
    """A message with everything that a card has."""
    return Message(
        heading="Task 7 · open settings",
        body=body,
        footer="12 s",
        picture=screenshot(),
        buttons=((stop_button("7"), pause_button("7")),),
    )


HOSTILE = "@everyone <b>bold</b> *stars* _lines_ `code` [x](http://127.0.0.1/) <@1> & \\ | ~~gone~~ ||hidden|| #1"


def menu(number: int) -> Menu:
    """A menu of so many choices."""
    data = [f"1:ans:0123456789abcdef:{one}" for one in range(1, number + 1)]
    return Menu(tuple(Button(f"choice {one}", of) for one, of in enumerate(data, 1)), "Choose one")


class ChatContract:
    """The tests. All go through the border of `bot.domain.chat`."""

    async def test_a_message_is_shown_with_all_its_parts(self, bench: Bench) -> None:
        ref = await bench.chat.send(bench.origin, card("Step 3 · Settings"), nonce="c7-1")
        assert ref.address == bench.origin
        (shown,) = await bench.shown(bench.origin)
        assert shown.id == ref.message
        for part in ("Task 7 · open settings", "Step 3 · Settings", "12 s"):
            assert part in shown.text
        assert shown.buttons == (stop_button("7").data, pause_button("7").data)
        assert len(shown.files) == 1
        assert shown.silent
        assert shown.mentions == ()

    async def test_a_notifying_message_rings_for_one_person_only(self, bench: Bench) -> None:
        message = Message(heading="A question", body=HOSTILE, notify=True, mention=bench.person)
        await bench.chat.send(bench.origin, message, nonce="o1")
        (shown,) = await bench.shown(bench.origin)
        assert shown.mentions == (bench.person.id,)
        assert not shown.silent

    async def test_text_of_models_and_screens_is_shown_as_it_is(self, bench: Bench) -> None:
        await bench.chat.send(bench.origin, Message(heading=HOSTILE, body=HOSTILE, footer=HOSTILE), nonce="o2")
        (shown,) = await bench.shown(bench.origin)
        assert shown.text.count(HOSTILE) == 3
        assert shown.mentions == ()

    async def test_an_edit_changes_the_text_and_takes_the_buttons_away(self, bench: Bench) -> None:
        ref = await bench.chat.send(bench.origin, card("first"), nonce="c7-2")
        await bench.chat.edit(ref, card("second"))
        (shown,) = await bench.shown(bench.origin)
        assert "second" in shown.text
        assert "first" not in shown.text
        assert len(shown.files) == 1
        await bench.chat.edit(ref, Message(heading="Done", body="over", picture=screenshot()))
        (shown,) = await bench.shown(bench.origin)
        assert shown.buttons == ()

    @pytest.mark.parametrize("number", [6, 25, 26, 60])
    async def test_one_of_many_choices_is_taken_from_a_menu(self, bench: Bench, number: int) -> None:
        if bench.chat.capabilities.menu_choices < number:
            pytest.skip("this platform lists so many with numbers")
        asked = Message(heading="Which?", body="one", buttons=((stop_button("7"),),), menu=menu(number), notify=True)
        ref = await bench.chat.send(bench.origin, asked, nonce="o12")
        (shown,) = await bench.shown(bench.origin)
        assert shown.choices == tuple(choice.data for choice in menu(number).choices)
        assert stop_button("7").data in shown.buttons
        for choice in (shown.choices[0], shown.choices[-1]):
            press = await bench.press(ref, choice)
            assert (press.data, press.message, press.person.id) == (choice, ref, bench.person.id)
        await bench.chat.edit(ref, Message(heading="Which?", body="answered"))
        (shown,) = await bench.shown(bench.origin)
        assert (shown.choices, shown.buttons) == ((), ())

    async def test_an_edit_without_a_change_is_no_error(self, bench: Bench) -> None:
        ref = await bench.chat.send(bench.origin, Message(body="same"), nonce="c7-3")
        await bench.chat.edit(ref, Message(body="same"))
        await bench.chat.edit(ref, Message(body="same"))
        assert len(await bench.shown(bench.origin)) == 1

    async def test_a_card_may_get_its_picture_later(self, bench: Bench) -> None:
        ref = await bench.chat.send(bench.origin, Message(heading="Queued", body="place 2"), nonce="c7-4")
        await bench.chat.edit(ref, card("Step 1"))
        shown = await bench.shown(bench.origin)
        assert any("Step 1" in one.text and one.files for one in shown)

    async def test_a_long_text_is_shown_completely(self, bench: Bench) -> None:
        words = [f"word{number}" for number in range(2500)]
        message = Message(heading="Done", body=" ".join(words), picture=screenshot(), buttons=((stop_button("7"),),))
        await bench.chat.send(bench.origin, message, nonce="o3")
        everything = " ".join(one.text for one in await bench.shown(bench.origin))
        assert set(words) <= set(everything.split())

    async def test_the_lines_of_a_code_block_are_all_shown_as_they_are(self, bench: Bench) -> None:
        lines = [f"    if *a{number}* < _b_: # <b>{number}</b>" for number in range(150)]
        body = "\n".join(["Before", "```python", *lines, "```", "after *it*"])
        await bench.chat.send(bench.origin, Message(heading="Done", body=body), nonce="o14")
        everything = "\n".join(one.text for one in await bench.shown(bench.origin)).splitlines()
        shown = [line.strip() for line in everything]
        assert [line for line in shown if line.startswith("if *a")] == [line.strip() for line in lines]
        assert "after *it*" in shown

    async def test_files_are_shown_by_name(self, bench: Bench) -> None:
        files = tuple(Picture(f"found {number}.csv", b"a;b\n") for number in range(3))
        await bench.chat.send(bench.origin, Message(body="found", files=files), nonce="o15")
        shown = await bench.shown(bench.origin)
        names = [name.replace("_", " ") for one in shown for name in one.files]
        assert names == [file.name for file in files]

    async def test_a_recap_beside_the_last_screen_is_shown_too(self, bench: Bench) -> None:
        recap = Picture("recap.gif", animation())
        final = Message(heading="Done", body="It is done.", picture=screenshot(), files=(recap,), notify=True)
        await bench.chat.send(bench.origin, final, nonce="o16")
        assert len([name for one in await bench.shown(bench.origin) for name in one.files]) == 2

    async def test_there_is_a_private_place_or_a_reason(self, bench: Bench) -> None:
        try:
            private = await bench.chat.private_place(bench.origin, bench.person)
        except ChatError as reason:
            pytest.skip(f"there is none: {reason}")
        assert (private.platform, private.account) == (bench.origin.platform, bench.origin.account)
        assert not private.thread
        ref = await bench.chat.send(private, Message(body="only for you"), nonce="o17")
        assert ref.address == private
        assert "only for you" in (await bench.shown(private))[-1].text

    async def test_chinese_and_emoji_arrive(self, bench: Bench) -> None:
        text = "打开浏览器 👩‍👩‍👧 🇩🇪 " * 20
        await bench.chat.send(bench.origin, Message(body=text.strip()), nonce="o4")
        (shown,) = await bench.shown(bench.origin)
        assert text.strip() in shown.text

    async def test_the_same_nonce_is_shown_once_where_the_platform_knows(self, bench: Bench) -> None:
        if not bench.chat.capabilities.knows_delivery:
            pytest.skip("this platform cannot tell")
        first = await bench.chat.send(bench.origin, Message(body="the end"), nonce="o5")
        second = await bench.chat.send(bench.origin, Message(body="the end"), nonce="o5")
        assert first == second
        assert len(await bench.shown(bench.origin)) == 1

    async def test_a_task_gets_a_place_that_can_be_written_to_and_closed(self, bench: Bench) -> None:
        anchor = await bench.chat.send(bench.origin, Message(body="anchor"), nonce="o6")
        place = await bench.chat.open_place(bench.origin, anchor.message, "Task 7 · " + "long title " * 20)
        assert (place.platform, place.account, place.chat) == (
            bench.origin.platform,
            bench.origin.account,
            bench.origin.chat,
        )
        if bench.chat.capabilities.threads:
            assert place.thread
            assert place != bench.origin
        ref = await bench.chat.send(place, Message(body="in its place"), nonce="o7")
        assert ref.address == place
        assert "in its place" in [one.text for one in await bench.shown(place)][-1]
        await bench.chat.close_place(place)

    async def test_a_place_is_opened_without_an_anchor_too(self, bench: Bench) -> None:
        place = await bench.chat.open_place(bench.origin, None, "Task 8 · open settings")
        await bench.chat.send(place, Message(body="hello there"), nonce="o8")
        assert any("hello there" in one.text for one in await bench.shown(place))

    async def test_editing_a_deleted_message_is_useless_and_said_so(self, bench: Bench) -> None:
        ref = await bench.chat.send(bench.origin, card("first"), nonce="c7-5")
        await bench.remove(ref)
        with pytest.raises(ChatGone):
            await bench.chat.edit(ref, card("second"))

    async def test_writing_to_a_lost_place_is_useless_and_said_so(self, bench: Bench) -> None:
        await bench.lose(bench.origin)
        with pytest.raises(ChatGone) as caught:
            await bench.chat.send(bench.origin, Message(body="anybody?"), nonce="o9")
        assert str(caught.value)

    async def test_a_flood_answer_names_the_seconds(self, bench: Bench) -> None:
        ref = await bench.chat.send(bench.origin, Message(body="one"), nonce="o10")
        await bench.flood(41)
        with pytest.raises(FloodWait) as caught:
            await bench.chat.edit(ref, Message(body="two"))
        assert 40 <= caught.value.seconds <= 60
        shown = await bench.shown(bench.origin)
        assert "two" not in shown[0].text

    async def test_a_message_is_deleted_where_that_is_possible(self, bench: Bench) -> None:
        ref = await bench.chat.send(bench.origin, Message(body="a secret"), nonce="o11")
        if not bench.chat.capabilities.deletes:
            with pytest.raises(ChatError):
                await bench.chat.delete(ref)
            return
        await bench.chat.delete(ref)
        assert await bench.shown(bench.origin) == []

    def test_the_capabilities_make_sense(self, bench: Bench) -> None:
        can = bench.chat.capabilities
        assert 0 < can.edit_interval <= can.edit_interval_group
        assert can.caption_limit > 0
        assert can.file_limit >= 1_000_000
        assert can.card_lifetime > 600
        assert bench.chat.platform == bench.origin.platform
