"""Success that code sees is not asked of a model; what a model only claims is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.events import Step, Told
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.ports.agent import EarlierTask
from agent.run import Outcome
from agent.skills.library import Skill, Skills
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, data, models, tap

CLAIM = call("finish", status="success", summary="All of it is done.")
SETTINGS = call("open_app", name="Settings")
NOTE = "In the Notes app, make a note titled 'Meeting' with the text 'Room 12 at 3 pm' and save it."
MESSAGE = "Send the message 'On my way' to Bob with the Messages app."


def into(hint: str, text: str) -> Any:
    """Types into the field with this hint."""

    def typed(request: ModelRequest) -> ModelReply:
        assert request.scene is not None
        found = [e for e in request.scene.screen.elements or () if hint in e.line and "editable" in e.states]
        return call("type", element=found[0].id, text=text)

    return typed


async def proofs(rig: Rig, text: str, *acts: Any, answers: tuple[str, ...] = ()) -> tuple[Outcome, int]:
    """The outcome where every verification says no, and how many of them were asked."""
    no = [data(proven=False, reason="It cannot be seen.")] * 2
    have, model = models([*acts, CLAIM, CLAIM], verify=no)
    work = Work(rig.agent(have), order(text))
    for answer in answers:
        await work.answer(answer)
    end = await work.ended()
    return end.outcome, len(model.asked(Purpose.VERIFY))


async def proven(rig: Rig, text: str, *acts: Any, answers: tuple[str, ...] = ()) -> bool:
    """Whether code has proven it, without any verification."""
    outcome, asked = await proofs(rig, text, *acts, answers=answers)
    assert (outcome is Outcome.SUCCEEDED) is (asked == 0)
    return asked == 0


CART = "Put a Desk lamp into the cart of the Shop app."
LAMP = (call("open_app", name="Shop"), tap("Desk lamp"))
NOTED = (call("open_app", name="Notes"), tap("New note"), into("Title", "Meeting"), into("Note", "Room 12 at 3 pm"))
WRITTEN = (call("open_app", name="Messages"), tap("Bob"), into("Text message", "On my way"))


@pytest.mark.parametrize("text", ["Open Settings and turn Bluetooth on.", "turn on Bluetooth", "在设置里打开Bluetooth"])
async def test_a_switch_that_was_turned_is_seen(rig: Rig, text: str) -> None:
    rig.phone.state.settings["global"]["bluetooth_on"] = "0"
    assert await proven(rig, text, SETTINGS, tap("Bluetooth"))


async def test_a_switch_on_a_page_is_seen(rig: Rig) -> None:
    text = "Switch the phone to the dark theme in Settings."
    assert await proven(rig, text, SETTINGS, tap("Display"), tap("Dark theme"))


async def test_an_app_that_was_opened_is_seen(rig: Rig) -> None:
    assert await proven(rig, "open the Notes app", call("open_app", name="Notes"))


async def test_what_was_put_into_a_cart_is_seen(rig: Rig) -> None:
    assert await proven(rig, CART, *LAMP, tap("Add to cart"))
    assert rig.phone.truth.cart == ("Desk lamp",)


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        (CART, LAMP),
        (CART, (*LAMP, tap("Add to cart"), tap("Add to cart"))),
        (CART, (LAMP[0], tap("Blue mug"), tap("Add to cart"))),
        (CART, (*LAMP, call("key", key="back"), tap("Blue mug"), tap("Add to cart"))),
        (CART.replace("Desk lamp", "lamp"), (*LAMP, tap("Add to cart"))),
        (CART.replace("Shop", "Notes"), (*LAMP, tap("Add to cart"))),
        (CART.replace(" of the Shop app", ""), (*LAMP, tap("Add to cart"))),
        (CART, (*LAMP, tap("Add to cart"), tap("Cart, 1"))),
    ],
)
async def test_a_cart_that_is_only_claimed_is_asked_about(rig: Rig, text: str, acts: tuple[Any, ...]) -> None:
    """Seen failing with `_is_chosen` answering true as soon as the cart counts more."""
    assert not await proven(rig, text, *acts)


async def test_a_note_that_was_saved_is_seen(rig: Rig) -> None:
    assert await proven(rig, NOTE, *NOTED, tap("Save"))


@pytest.mark.parametrize("app", ["", " in the Notes app", " with Messages"])
async def test_a_note_without_a_title_is_seen_in_an_app_for_notes(rig: Rig, app: str) -> None:
    acts = (call("open_app", name="Notes"), tap("New note"), into("Note", "Room 12 at 3 pm"), tap("Save"))
    assert await proven(rig, f"Write a note that says 'Room 12 at 3 pm'{app}", *acts) is ("Messages" not in app)


async def test_a_note_that_is_not_saved_is_not_seen(rig: Rig) -> None:
    acts = (call("open_app", name="Notes"), tap("New note"), into("Note", "Room 12 at 3 pm"))
    assert not await proven(rig, "Write a note that says 'Room 12 at 3 pm'", *acts)


@pytest.mark.parametrize(
    "text", [MESSAGE, "Send a message to Bob saying 'On my way'", "打开Messages发消息给Bob：On my way"]
)
async def test_a_message_that_was_sent_is_seen(rig: Rig, text: str) -> None:
    assert await proven(rig, text, *WRITTEN, tap("Send"), answers=("allow",))


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("turn on Bluetooth", (SETTINGS,)),
        ("turn off Bluetooth", (SETTINGS, tap("Bluetooth"))),
        ("turn on Bluetooth", (SETTINGS, tap("Bluetooth"), tap("Bluetooth"))),
        ("turn on Bluetooth", (SETTINGS, tap("Location"))),
        ("turn on Bluetooth", (SETTINGS, tap("Bluetooth"), call("key", key="home"))),
        ("turn on Bluetooth and Location", (SETTINGS, tap("Bluetooth"))),
        ("turn on Bluetooth if it is dark", (SETTINGS, tap("Bluetooth"))),
        ("don't turn on Bluetooth", (SETTINGS, tap("Bluetooth"))),
        ("In the Notes app, turn on Bluetooth", (SETTINGS, tap("Bluetooth"))),
        ("open the Notes app", (SETTINGS,)),
        ("open the Notes app and read it", (call("open_app", name="Notes"),)),
        (NOTE, (*NOTED,)),
        (NOTE, (*NOTED[:3], tap("Save"))),
        (NOTE, (*NOTED[:2], into("Title", "Room 12 at 3 pm"), into("Note", "Meeting"), tap("Save"))),
        (NOTE.replace("Meeting", "Meet"), (*NOTED, tap("Save"))),
        (NOTE.replace("Notes app", "Shop app"), (*NOTED, tap("Save"))),
    ],
)
async def test_what_is_only_claimed_is_asked(rig: Rig, text: str, acts: tuple[Any, ...]) -> None:
    """Seen failing with `is_shown` answering true for every task whose form is known."""
    rig.phone.state.settings["global"]["bluetooth_on"] = "0"
    assert not await proven(rig, text, *acts)


async def test_a_switch_that_was_on_before_proves_nothing(rig: Rig) -> None:
    """Seen failing without the look at which it was the other way."""
    rig.phone.state.settings["global"]["bluetooth_on"] = "1"
    assert not await proven(rig, "turn on Bluetooth", SETTINGS, tap("Location"))


async def test_a_note_that_was_there_before_proves_nothing(rig: Rig) -> None:
    """The claim comes from a page with another note of the same words. Seen failing without `_is_new`."""
    rig.phone.state.notes.append(type(rig.phone.state.notes[0])(99, "Meeting", "Room 12 at 3 pm"))
    assert not await proven(rig, NOTE, *NOTED, call("key", key="back"), call("key", key="back"))


@pytest.mark.parametrize(
    "text", ["Send 'On my way' to Alice.", "Send 'On my' to Bob.", "Send 'On my way' to Bob twice."]
)
async def test_a_message_to_another_or_of_other_words_is_asked(rig: Rig, text: str) -> None:
    assert not await proven(rig, text, *WRITTEN, tap("Send"), answers=("allow",))


async def test_what_a_person_did_not_allow_is_not_proven(rig: Rig) -> None:
    outcome, _ = await proofs(rig, MESSAGE, *WRITTEN, tap("Send"), answers=("deny",))
    assert outcome is Outcome.DECLINED
    assert not any(each.text == "On my way" for each in rig.phone.truth.messages)


@pytest.mark.parametrize(("text", "said"), [("open the Notes app", ["Opening Notes"]), ("look around", [])])
async def test_the_app_that_is_opened_is_told_before_the_model_has_answered(
    rig: Rig, text: str, said: list[str]
) -> None:
    have, _ = models([call("open_app", name="Notes"), CLAIM])
    work = Work(rig.agent(have), order(text))
    await work.ended()
    first = next(at for at, event in enumerate(work.events) if isinstance(event, Step))
    assert [event.text for event in work.events[:first] if isinstance(event, Told)] == said


@pytest.mark.parametrize(
    ("text", "asked"),
    [("turn on Bluetooth", 0), ("turn on Bluetooth and Location", 1), ("Send 'hi' to Bob.", 1), ("make it warmer", 1)],
)
async def test_the_kind_of_a_plain_task_is_not_asked(rig: Rig, text: str, asked: int) -> None:
    """What may be sent at all is still for a model to say, and so is everything that has a word more."""
    have, model = models([CLAIM, CLAIM], intent=[data(kind="refuse", answer="No.")])
    await Work(rig.agent(have), order(text, quick=False)).ended()
    assert len(model.asked(Purpose.INTENT)) == asked


async def test_the_kind_of_what_follows_another_task_is_asked(rig: Rig) -> None:
    """Seen failing (nobody was asked) without the look at what is noted."""
    have, model = models([CLAIM, CLAIM], intent=[data(kind="simple")])
    before = EarlierTask(text="find out what uses the battery", outcome="succeeded", summary="Bluetooth does.")
    follows = order("turn off Bluetooth", quick=False).model_copy(update={"earlier": (before,)})
    await Work(rig.agent(have), follows).ended()
    assert len(model.asked(Purpose.INTENT)) == 1


async def test_the_kind_is_asked_where_a_skill_may_fit(rig: Rig) -> None:
    """Seen failing without the look at the skills."""
    skill = Skill("radio", "How to turn Bluetooth on here.", Path("radio"))
    have, model = models([CLAIM, CLAIM], intent=[data(kind="simple")])
    agent = rig.agent(have, main={"skills": Skills({"radio": skill})})
    await Work(agent, order("turn on Bluetooth", quick=False)).ended()
    assert len(model.asked(Purpose.INTENT)) == 1
