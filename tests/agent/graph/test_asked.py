"""What a person is asked names the object first: whom, what, how much; never coordinates or packages."""

from __future__ import annotations

import pytest

from agent.events import Asked
from agent.questions import Question
from bot.texts import speaking
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, models, tap

GIVE_UP = call("finish", status="failure", summary="stopped")


async def asked_for(rig: Rig, *script: object) -> Question:
    """The first question of this script; it is denied."""
    have, _ = models([*script, GIVE_UP])
    work = Work(rig.agent(have), order("go on"))
    question = (await work.until(Asked)).question
    await work.answer("deny")
    await work.ended()
    return question


def writing(rig: Rig) -> None:
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person="Bob")
    rig.phone.windows.page.fields["compose_message_text"] = "hello"


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Send “hello” to Bob in Messages?"), ("zh", "要在 Messages 中把“hello”发给 Bob 吗？")]
)
async def test_a_message_is_asked_for_by_text_and_recipient(rig: Rig, language: str, said: str) -> None:
    writing(rig)
    with speaking(language):
        question = await asked_for(rig, tap("Send"))
    assert question.text == said
    assert question.consequence == "send"
    assert "com.android.messaging" in question.detail
    assert "'Send'" in question.detail


async def test_a_payment_is_asked_for_by_its_amount(rig: Rig) -> None:
    rig.phone.windows.launch("shop")
    rig.phone.state.cart.append("Desk lamp")
    rig.phone.windows.open("payment")
    question = await asked_for(rig, tap("Place order"))
    assert "$34.99" in question.text
    assert question.consequence == "pay"


async def test_a_dialog_is_asked_for_in_its_own_words(rig: Rig) -> None:
    rig.phone.pop_up("Delete the whole photo library?", "This cannot be undone.")
    question = await asked_for(rig, tap("OK"))
    assert question.text.startswith("“Delete the whole photo library?")
    assert question.consequence == "delete"


async def test_a_place_without_a_name_is_not_asked_for_by_numbers(rig: Rig) -> None:
    rig.phone.windows.launch("shop")
    rig.phone.state.cart.append("Desk lamp")
    rig.phone.windows.open("payment")
    question = await asked_for(rig, call("tap", x=270, y=1100))
    assert "(" not in question.text
