"""How a task stands, as a bar of colour: beside the picture and the receipt, and with no preview of any address."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.chats.discord.chat import DiscordChat
from bot.chats.discord.formatting import card_of, drafts_of
from bot.domain.outgoing import Button, Message, Picture, Reply, Tone
from tests.bot.chats.discord.conftest import Home
from tests.bot.chats.discord.recording import Recording
from tests.bot.chats.discord.town import a_town

pytestmark = [pytest.mark.usefixtures("virtual_time"), pytest.mark.slow]

SUPPRESSED = 1 << 2
COVERED = re.compile(r"(?<!\\)(?:\\\\)*<https?://[^\s<>]+>", re.IGNORECASE)
"""An address of which Discord makes no preview; one with a backslash in it is no link at all."""

SCREEN = Picture("screen.png", b"one")
CARD = Message("Task 1", "step 1/20", "3 s", SCREEN, card=True, tone=Tone.WORKING)
FINAL = Message("Done", "It is at https://example.org/a_b (see HTTPS://EXAMPLE.ORG).", "5 steps", final=True)

ADDRESSES = st.sampled_from(
    [
        "https://example.org/a",
        "http://x.y/(z)",
        "HTTPS://EXAMPLE.ORG",
        "https://e.org/" + "long" * 120,
        "<https://e.org>",
    ]
)
TEXTS = st.lists(
    st.one_of(
        ADDRESSES,
        st.text(max_size=700).filter(lambda text: "://" not in text),
        st.sampled_from(["\n", " ", "(", "[", "a" * 900]),
    )
).map("".join)


async def test_a_card_has_a_bar_beside_its_picture_and_its_meter(home: Home, chat: DiscordChat) -> None:
    ref = await chat.send(home.address(), CARD, nonce="card")
    card = home.fake.message(home.channel, ref.message)
    (working,) = card.embeds
    assert working["image"]["url"] == "attachment://screen.png"
    assert working["footer"]["text"] == "3 s"
    assert card.content == "**Task 1**\nstep 1/20", "the meter stands once"
    assert not card.flags & SUPPRESSED, "it would hide the bar"
    done = Message("Task 1", "Done", picture=SCREEN, card=True, tone=Tone.DONE)
    await chat.edit(ref, done)
    assert card.embeds[0]["color"] != working["color"]
    await chat.edit(ref, Message("Task 1", "moved to https://example.org"))
    assert card.embeds == []
    assert card.content.endswith("<https://example.org>"), "an edit cannot set the flag"


async def test_every_tone_has_a_colour_of_its_own() -> None:
    shown = [drafts_of(Message("Task", "1", "2", final=True, tone=tone), embeds=True)[0].embed for tone in Tone]
    assert len({embed.colour for embed in shown if embed is not None}) == len(Tone)


async def test_a_question_says_in_its_words_how_to_answer(home: Home, chat: DiscordChat) -> None:
    asked = Message("Which?", footer="Answer here.", picture=SCREEN, notify=True, tone=Tone.WAITING)
    ref = await chat.send(home.address(), asked, nonce="q")
    question = home.fake.message(home.channel, ref.message)
    assert question.content.endswith("-# Answer here.")
    assert question.embeds[0]["image"]["url"] == "attachment://screen.png"


async def test_what_has_no_tone_is_sent_as_before(home: Home, chat: DiscordChat) -> None:
    ref = await chat.send(home.address(), Message(body="https://example.org"), nonce="x")
    sent = home.fake.message(home.channel, ref.message)
    assert (sent.content, sent.embeds) == ("https://example.org", [])
    assert sent.flags & SUPPRESSED


async def test_an_address_in_a_result_gets_no_preview(home: Home, chat: DiscordChat) -> None:
    """Seen failing with the addresses as they are: the flag that kept previews away is not there any more."""
    ref = await chat.send(
        home.address(), Message(FINAL.heading, FINAL.body, "5", final=True, tone=Tone.DONE), nonce="f"
    )
    sent = home.fake.message(home.channel, ref.message)
    assert not sent.flags & SUPPRESSED
    assert sent.content == "**Done**\nIt is at <https://example.org/a_b> (see <HTTPS://EXAMPLE.ORG>)."


@settings(max_examples=60, deadline=None)
@given(heading=TEXTS, body=TEXTS, footer=TEXTS)
def test_no_address_in_any_text_goes_out_bare(heading: str, body: str, footer: str) -> None:
    """Seen failing with the addresses as they are."""
    message = Message(heading, body.replace("```", ""), footer, SCREEN, tone=Tone.WAITING)
    for draft in (drafts_of(message, embeds=True)[0], card_of(message, embeds=True), card_of(message)):
        assert "://" not in COVERED.sub("", draft.content).replace("\\://", ""), draft.content


@pytest.mark.parametrize("announced", [True, False])
async def test_without_the_right_to_embed_it_looks_as_before(home: Home, chat: DiscordChat, *, announced: bool) -> None:
    home.fake.deny(home.channel, "embed_links", announced=announced)
    for nonce in ("one", "two"):
        ref = await chat.send(home.address(), CARD, nonce=nonce)
        card = home.fake.message(home.channel, ref.message)
        assert (card.content, card.embeds) == ("**Task 1**\nstep 1/20\n-# 3 s", [])
        assert home.fake.files(card) == {"screen.png": b"one"}
        assert card.flags & SUPPRESSED
    refused = [path for method, path, _ in home.fake.requests if method == "POST" and path.endswith("/messages")]
    assert len(refused) <= 3, "what Discord refused once is not tried again at once"
    assert len(home.fake.from_bot(home.channel)) == 2, "nobody is told of a colour"


async def test_a_pressed_question_loses_its_picture_with_its_buttons(
    home: Home, chat: DiscordChat, intake: Recording
) -> None:
    asked = Message("Which?", picture=SCREEN, buttons=((Button("Yes", "1:ans:1"),),), tone=Tone.WAITING)
    ref = await chat.send(home.address(), asked, nonce="q")
    question = home.fake.message(home.channel, ref.message)
    intake.pressed = Reply(shown=Message("Which?", footer="Answered by alice", tone=Tone.WORKING))
    home.fake.press(home.alice, question, "1:ans:1")
    await home.fake.wait_until(lambda: "Answered by alice" in question.content)
    assert question.embeds == []
    assert home.fake.files(question) == {}


async def test_a_task_from_working_to_waiting_to_done(home: Home, tmp_path: Path) -> None:
    async with a_town(home, tmp_path) as town:
        task = await town.working()
        card = await town.card()
        working = card.embeds[0]["color"]
        await town.asks(task, "red", "blue")
        question = await town.bot_says("Which one?", await town.thread())
        await town.until(lambda: card.embeds[0]["color"] != working)
        waiting = card.embeds[0]["color"]
        home.fake.press(home.alice, question, town.button(question, "blue"))
        await town.world.end(task)
        final = await town.bot_says("It is done.", await town.thread())
        (bar,) = final.embeds
        assert bar["color"] not in {working, waiting}
        assert "step" in bar["footer"]["text"]
