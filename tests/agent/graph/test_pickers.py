"""Pickers, sliders, long presses and drags, done by a model that sees nothing but its requests, with how many it takes.

Each is done in a dialect that numbers and in one that points.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agent.actions import Action, Drag, Swipe
from agent.events import Asked, TaskEnded
from agent.guards.gate import Gate
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from agent.models.base import Purpose
from agent.questions import QuestionKind
from agent.run import Outcome
from devices.virtual_phone.phone import VirtualPhone
from tests.agent.graph.blind_solver import DIALECTS, Solver, told
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import ScriptedModel, call, models

each_dialect = pytest.mark.parametrize("dialect", DIALECTS)
each_form = pytest.mark.parametrize("form", ["android", "material", "samsung"])


async def solve(rig: Rig, dialect: str, steps: Sequence[Any], text: str = "do it") -> ScriptedModel:
    """Take the steps and finish; returns the model, whose requests are counted."""
    solver = Solver(dialect)
    asked, model = models([solver.open("Calendar"), *steps, solver.finish()])
    work = Work(rig.agent(asked, dialect=dialect), order(text))
    ended, held = asyncio.ensure_future(work.until(TaskEnded)), asyncio.ensure_future(work.until(Asked))
    await asyncio.wait({ended, held}, return_when=asyncio.FIRST_COMPLETED)
    assert ended.done(), (held.result().question, model.asked(Purpose.ACT)[-1].messages[-1].text)
    held.cancel()
    end = ended.result()
    assert end.outcome is Outcome.SUCCEEDED, end
    await work.closed()
    return model


@pytest.mark.sampled(5)
@each_form
@each_dialect
@pytest.mark.parametrize(("day", "requests"), [("2026-03-14", 9), ("2031-10-05", 9)])
async def test_a_day_is_chosen(rig: Rig, dialect: str, form: str, day: str, requests: int) -> None:
    """Near and far: by pages, by the list of years, and in One UI by its wheels."""
    rig.phone.state.pickers = form
    s = Solver(dialect)
    steps = [s.tap("New event"), s.tap("Title"), s.type("Trip"), s.tap("Date"), s.set(day), s.tap("OK"), s.tap("Save")]
    model = await solve(rig, dialect, steps)
    assert [(event.title, event.day) for event in rig.phone.state.events] == [("Trip", day)]
    assert len(model.asked(Purpose.ACT)) == requests


@pytest.mark.sampled(5)
@each_form
@each_dialect
@pytest.mark.parametrize("at", ["18:43", "07:39", "00:05"])
async def test_a_time_is_chosen(rig: Rig, dialect: str, form: str, at: str) -> None:
    """On a face, also between two of its numbers and so near to one that it is chosen instead, and on wheels."""
    rig.phone.state.pickers = form
    s = Solver(dialect)
    steps = [s.tap("New event"), s.tap("Title"), s.type("Trip"), s.tap("Time"), s.set(at), s.tap("OK"), s.tap("Save")]
    model = await solve(rig, dialect, steps)
    assert [event.time for event in rig.phone.state.events] == [at]
    assert len(model.asked(Purpose.ACT)) == 9


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", ["android", "material"])
@each_dialect
async def test_a_time_is_typed(rig: Rig, dialect: str, form: str) -> None:
    rig.phone.state.pickers = form
    s = Solver(dialect)
    to_text = [s.tap("New event"), s.tap("Title"), s.type("Trip"), s.tap("Time"), s.tap("Switch to text")]
    await solve(rig, dialect, [*to_text, s.set("6:43 pm"), s.tap("OK"), s.tap("Save")])
    assert [event.time for event in rig.phone.state.events] == ["18:43"]


@each_dialect
async def test_a_wheel_is_turned(rig: Rig, dialect: str) -> None:
    s = Solver(dialect)
    steps = [s.tap("New event"), s.tap("Title"), s.type("Trip"), s.tap("Reminder"), s.set("45"), s.tap("OK")]
    model = await solve(rig, dialect, [*steps, s.tap("Save")])
    assert [event.reminder for event in rig.phone.state.events] == [45]
    assert len(model.asked(Purpose.ACT)) == 9


@pytest.mark.sampled(5)
@each_dialect
@pytest.mark.parametrize("value", ["17", "never", "45.5", "-45", "45%", "24/12/2026"])
async def test_what_a_wheel_does_not_have_is_told(rig: Rig, dialect: str, value: str) -> None:
    s = Solver(dialect)
    model = await solve(rig, dialect, [s.tap("New event"), s.tap("Reminder"), s.set(value)])
    words = told(model.asked(Purpose.ACT), 4)
    assert f"it does not show '{value}'" in words


@each_dialect
async def test_a_share_is_not_read_from_a_number_that_is_none(rig: Rig, dialect: str) -> None:
    """Seen failing: a number beside the slider was taken for its share."""
    s = Solver(dialect)
    steps = [s.tap("Calendar settings"), s.set("45%", role="slider", on="steps_bar")]
    model = await solve(rig, dialect, steps)
    assert "the phone does not tell which one it has" in told(model.asked(Purpose.ACT), 3)


@each_dialect
async def test_sliders_are_set_and_read_back(rig: Rig, dialect: str) -> None:
    """By a share, in a unit that only its number tells, and both ends of a range, each in one request."""
    s = Solver(dialect)
    steps = [
        s.tap("Calendar settings"),
        s.set("70%", role="slider", on="volume_bar"),
        s.set("14500", role="slider", on="steps_bar"),
        s.set("35-90", role="slider", on="Range start"),
        s.set("55%", role="slider", on="warmth_bar"),
    ]
    model = await solve(rig, dialect, steps)
    levels = rig.phone.state.levels
    assert (levels["volume"], levels["steps"], levels["from"], levels["to"]) == (70, 14500, 35, 90)
    assert abs(levels["warmth"] - 55) <= 3
    words = told(model.asked(Purpose.ACT), 6)
    assert "it shows '70%'" in words
    assert "the phone does not tell which one it has" in words
    assert len(model.asked(Purpose.ACT)) == 7


@each_dialect
async def test_several_rows_are_chosen_by_a_long_press(rig: Rig, dialect: str) -> None:
    s = Solver(dialect)
    steps = [s.tap("Chores"), s.tap("Buy stamps", kind="long_press"), s.tap("Fix the lamp")]
    asked, model = models([s.open("Calendar"), *steps, s.tap("Delete"), s.finish()])
    work = Work(rig.agent(asked, dialect=dialect), order("delete the chores Buy stamps and Fix the lamp"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    await work.answer("allow")
    await work.ended()
    assert rig.phone.state.chores == ["Water plants", "Call Grandma"]
    assert len(model.asked(Purpose.ACT)) == 6


@each_dialect
async def test_a_row_is_dragged_to_another_place(rig: Rig, dialect: str) -> None:
    s = Solver(dialect)
    model = await solve(rig, dialect, [s.tap("Chores"), s.drag("Water plants", "Call Grandma")])
    assert rig.phone.state.chores == ["Buy stamps", "Call Grandma", "Water plants", "Fix the lamp"]
    assert len(model.asked(Purpose.ACT)) == 4
    assert [line.split()[1] for line in rig.inputs() if "draganddrop" in line] == ["draganddrop"]


@each_dialect
async def test_what_is_dropped_where_it_is_deleted_is_asked_about(rig: Rig, dialect: str) -> None:
    """Seen failing without the words under the end of a drag."""
    s = Solver(dialect)
    asked, _ = models([s.open("Calendar"), s.tap("Chores"), s.drag("Water plants", "Drop here"), s.finish()])
    work = Work(rig.agent(asked, dialect=dialect), order("put my chores in order"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    await work.answer("no")
    await work.ended()
    assert "Water plants" in rig.phone.state.chores


@each_dialect
async def test_a_slider_that_does_something_is_left_to_a_swipe_that_is_asked_about(rig: Rig, dialect: str) -> None:
    """Seen failing (it is slid, and nobody is asked) with fingers that no rule judges."""
    rig.phone.state.redesign.renamed["Range start,"] = "Slide to pay"
    s = Solver(dialect)
    steps = [s.tap("Calendar settings"), s.set("35", on="Slide to pay")]
    model = await solve(rig, dialect, steps)
    assert "does more than hold a value" in told(model.asked(Purpose.ACT), 3)
    assert rig.phone.state.levels["from"] == 20
    assert not any("swipe" in line for line in rig.inputs())


async def test_no_value_is_read_back_from_covered_words(rig: Rig) -> None:
    asked, model = models([call("open_app", name="Vault"), call("set_value", value="50%"), Solver("tools").finish()])
    await Work(rig.agent(asked), order("look into the vault")).ended()
    assert "its words are covered" in told(model.asked(Purpose.ACT), 2)


class Swapping(Policy):
    """Renames a slider as soon as a finger on it was judged."""

    def __init__(self, phone: VirtualPhone) -> None:
        super().__init__(Policy.default().rules())
        self._phone = phone

    def gate(self, action: Action, spot: TouchTarget) -> Gate:
        found = super().gate(action, spot)
        if isinstance(action, Swipe | Drag):
            self._phone.state.redesign.renamed["Busy share"] = "Slide to pay"
        return found


@each_dialect
@pytest.mark.parametrize("by", ["set", "drag"])
async def test_a_slider_that_was_given_other_words_meanwhile_is_not_slid(rig: Rig, dialect: str, by: str) -> None:
    """Seen failing (it is slid) with inputs that are sent without what they were judged by."""
    s = Solver(dialect)
    move = s.set("35", on="Range start,") if by == "set" else s.drag("Range start,", "Range end,")
    asked, model = models([s.open("Calendar"), s.tap("Calendar settings"), move, s.finish()])
    await Work(rig.agent(asked, dialect=dialect, policy=Swapping(rig.phone)), order("set it")).ended()
    assert rig.phone.state.levels["from"] == 20
    assert not any("swipe" in line or "draganddrop" in line for line in rig.inputs())
    assert "no longer the same" in told(model.asked(Purpose.ACT), 3)


@each_dialect
async def test_a_recording_leaves_to_a_model_what_finds_its_place_by_itself(rig: Rig, dialect: str) -> None:
    """Seen failing: a slider was set again without the one that was meant."""
    s = Solver(dialect)
    settings = [s.tap("Calendar settings"), s.set("70%", role="slider", on="volume_bar")]
    asked, _ = models([s.open("Calendar"), *settings, s.drag("Range start,", "Range end,"), s.finish()])
    work = Work(rig.agent(asked, dialect=dialect), order("set it"))
    await work.ended()
    left = {each.kind: each.is_left_to_model for step in work.steps for each in step.record.actions}
    assert (left["set_value"], left["drag"]) == (True, True)
