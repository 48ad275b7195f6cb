"""What looks like standing still and is none: the guard against loops says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.run import Outcome
from agent.scene import ScreenElement
from devices.virtual_phone.state import Note
from tests.agent.graph.rig import Rig, Work, direct_rig, order
from tests.fakes.scripted_model import ScriptedModel, call, models, tap

pytestmark = pytest.mark.slow

FINISH = call("finish", status="success", summary="done")
ALARMS = ("nothing changed", "circles")
SCROLLS = 10


async def unalarmed(rig: Rig, script: list[object]) -> ScriptedModel:
    """Works through the script to its end, and has heard no alarm and asked nobody."""
    have, model = models([*script, FINISH])
    work = Work(rig.agent(have), order("go on"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    asked = model.asked(Purpose.ACT)
    heard = " ".join(words for request in asked if request.scene for words in request.scene.notices)
    assert not [alarm for alarm in ALARMS if alarm in heard]
    assert not [event for event in work.events if isinstance(event, Asked)]
    return model


def fill(hint: str, words: str) -> object:
    """Types into the field that has this hint or, once it is filled, these words."""

    def typing(request: ModelRequest) -> ModelReply:
        fields = [e for e in shown(request) if "editable" in e.states]
        return call("type", element=next(e.id for e in fields if hint in e.line), text=words)

    return typing


def shown(request: ModelRequest) -> tuple[ScreenElement, ...]:
    """What the model is told of the screen."""
    assert request.scene is not None
    return request.scene.screen.elements or ()


def switch(number: int) -> Callable[[ModelRequest], ModelReply]:
    """Touches the switch with this number, counted from the top."""

    def touching(request: ModelRequest) -> ModelReply:
        switches = [e.id for e in shown(request) if {"checked", "unchecked"} & set(e.states)]
        return call("tap", element=switches[number])

    return touching


async def test_fields_filled_one_after_the_other(rig: Rig) -> None:
    """The same words in each of them, on two pages."""
    rig.phone.windows.launch("notes")
    rig.phone.windows.open("edit")
    more = [call("open_app", name="Messages"), tap("New message"), fill("To", "Anna"), fill("Text message", "Anna")]
    await unalarmed(rig, [fill("Title", "Anna"), fill("Note", "Anna"), *more])
    assert rig.phone.windows.value("compose_message_text") == "Anna"


async def test_a_long_list_is_scrolled(rig: Rig) -> None:
    rig.phone.state.notes += [Note(100 + n, f"Note {n}", "The same words in each") for n in range(80)]
    rig.phone.windows.launch("notes")
    model = await unalarmed(rig, [call("scroll", direction="down")] * SCROLLS)
    tops = [request.scene.screen.elements for request in model.asked(Purpose.ACT) if request.scene]
    assert len({tuple(e.text for e in elements or ()) for elements in tops}) == SCROLLS + 1


async def test_a_switch_is_turned_on_and_off_again(rig: Rig) -> None:
    rig.phone.windows.launch("settings")
    before = rig.phone.state.settings["secure"].get("ui_night_mode")
    await unalarmed(rig, [tap("Dark theme")] * 2)
    assert rig.phone.state.settings["secure"].get("ui_night_mode") == before


async def test_three_waits_in_a_row(rig: Rig) -> None:
    """Seen failing with waits counted as other actions are."""
    pause = call("wait", seconds=0)
    await unalarmed(rig, [pause, call("wait_for", what="text", text="never", seconds=0), pause])


@pytest.mark.usefixtures("virtual_time")
async def test_a_clock_ticks_while_switches_are_turned() -> None:
    """On every look it is later, and now and then another minute: the same switch, on and off, is no circle."""
    looks = 0

    def later() -> datetime:
        nonlocal looks
        looks += 1
        return datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(seconds=7 * looks)

    async with direct_rig(clock=later) as rig:
        rig.phone.windows.launch("clock")
        switches = [switch(0), switch(1), switch(2), switch(0)]

        def touched(request: ModelRequest) -> ModelReply:
            assert request.scene is not None
            made = request.scene.step - 1  # a tick may have the model be asked again for the same step
            return switches[made](request) if made < len(switches) else FINISH

        model = await unalarmed(rig, [touched] * 20)
        assert [alarm.on for alarm in rig.phone.state.alarms] == [True, True, True]
    words = [e.text for request in model.asked(Purpose.ACT) for e in shown(request)]
    faces = {each for each in words if re.fullmatch(r"12:\d\d", each)}
    assert len(faces) > 1
