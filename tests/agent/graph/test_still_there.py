"""A press that nobody was asked about meets what it was judged by, or nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from agent import actions as act
from agent.events import Asked
from agent.graph.executor.anchors import TargetCheck, target_check
from agent.graph.executor.targets import ResolvedTarget
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from agent.models.base import ModelReply, ModelRequest
from devices.geometry import Bounds, Point
from devices.phone import Element, Observation
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.guards.screens import HERE, SIZE
from tests.fakes.scripted_model import call, models

BUTTON = "android.widget.Button"
TITLE = Element(Bounds(130, 80, 1000, 180), text="Prize centre")
SAID = Element(Bounds(60, 1100, 1020, 1200), text="A free trial of 3 days")
OK = Element(Bounds(60, 1300, 1020, 1420), text="OK", class_name=BUTTON, clickable=True)
LIKES = replace(OK, text="12 likes")
FIELD = Element(Bounds(60, 1300, 1020, 1420), text="a", class_name="android.widget.EditText", editable=True)
ROWS = tuple(
    Element(Bounds(0, 400 + 120 * n, 1080, 520 + 120 * n), text=f"Row {n}", class_name="Row", clickable=True)
    for n in range(4)
)


def judged(target: Element, *around: Element, read: bool = False, way: act.Action | None = None) -> TargetCheck | None:
    seen = Observation(SIZE, None, (TITLE, *around, target), "com.example")
    where = ResolvedTarget(target, target.bounds.centre)
    spot = TouchTarget("com.example", target, seen.elements or (), where.point, size=SIZE)
    action = way or act.Tap(target=HERE)
    return target_check(action, where, seen, spot, Policy.default(), lambda look: look, read=read)


def same(then: tuple[Element, ...], now: tuple[Element, ...], **more: Any) -> bool:
    """Whether a press of the last of these goes to what there is now."""
    known = judged(then[-1], *then[:-1], **more)
    assert known is not None
    return known.tells_same((TITLE, *now))


def test_another_word_on_the_button_is_another_button() -> None:
    """Seen failing before: only the window in front was looked at again."""
    assert same((OK,), (OK,))
    assert not same((OK,), (replace(OK, text="Pay now"),))
    assert not same((OK,), (replace(OK, text="Next"),))


def test_other_words_in_a_button_without_its_own_are_another_button() -> None:
    """Seen failing with only the button itself compared."""
    whole, first, second = replace(OK, text=""), replace(OK, clickable=False), replace(SAID, bounds=OK.bounds)
    assert same((first, second, whole), (first, second, whole))
    assert not same((first, second, whole), (replace(first, text="Next"), second, whole))


def test_what_stands_above_it_is_judged_anew() -> None:
    """Seen failing without the rules asked again: the button itself says the same."""
    assert same((SAID, OK), (SAID, OK))
    assert not same((SAID, OK), (replace(SAID, text="You are about to pay $49.99"), OK))


def test_what_has_moved_away_from_the_finger_is_not_touched() -> None:
    assert not same((OK,), (replace(OK, bounds=Bounds(60, 1500, 1020, 1620)),))
    assert not same((OK,), ())


def test_counts_go_on_and_nothing_is_made_of_it() -> None:
    assert same((LIKES,), (replace(LIKES, text="13 likes"),))


def test_a_field_may_have_been_written_into_meanwhile() -> None:
    assert same((FIELD,), (replace(FIELD, text="abc"),))


def test_what_a_reader_said_holds_for_its_dialog_only() -> None:
    """Seen failing without its words compared: the rules know neither of the two."""
    dialog = Element(Bounds(80, 900, 1000, 1000), text="Go to the garden?", resource_id="android:id/alertTitle")
    other = replace(dialog, text="Go to the moon?")
    go = replace(OK, text="Go")
    assert same((dialog, go), (dialog, go), read=True)
    assert not same((dialog, go), (other, go), read=True)


def test_what_presses_nothing_or_was_judged_without_elements_has_nothing_to_meet() -> None:
    assert judged(OK, way=act.Scroll(direction="down")) is None
    blind = Observation(SIZE, None, None, "com.example")
    where = ResolvedTarget(None, OK.bounds.centre)
    spot = TouchTarget("com.example", point=where.point, size=SIZE)
    tapped = act.Tap(target=HERE)
    assert target_check(tapped, where, blind, spot, Policy.default(), lambda look: look, read=False) is None


def test_what_is_slid_has_to_say_the_same_around_it() -> None:
    """A scroll over words is none. Seen failing with presses alone."""
    bar = Element(Bounds(60, 1300, 1020, 1420), class_name="android.widget.SeekBar")
    where = ResolvedTarget(None, Point(200, 1360), Point(900, 1360))
    seen = Observation(SIZE, None, (TITLE, SAID, bar), "com.example")
    spot = TouchTarget("com.example", None, seen.elements or (), where.point, where.end, size=SIZE)
    swipe = act.Swipe(start=HERE, end=HERE)
    known = target_check(swipe, where, seen, spot, Policy.default(), lambda look: look, read=False)
    assert known is not None
    assert known.tells_same((TITLE, replace(SAID, text="A free trial of 2 days"), bar))
    assert not known.tells_same((TITLE, replace(SAID, text="Slide to pay"), bar))


@pytest.mark.parametrize("target", [FIELD, ROWS[1]], ids=["field", "row"])
def test_fields_and_rows_are_worth_no_picture(target: Element) -> None:
    known, button = judged(target, *(row for row in ROWS if row is not target)), judged(OK)
    assert known is not None
    assert not known.pictured
    assert button is not None


@pytest.mark.parametrize("tree_ms", [0, 3000])
async def test_elements_that_are_late_are_waited_for_before_a_press_is_judged(rig: Rig, tree_ms: int) -> None:
    """Seen failing before: without a list no rule held the touch, and the message went out."""
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person="Alice")
    rig.phone.windows.page.fields["compose_message_text"] = "I'll be late"
    sent, places = rig.phone.truth.messages, []

    def find(request: ModelRequest) -> ModelReply:
        assert request.scene is not None
        box = next(e.bounds for e in request.scene.screen.elements or () if "Send" in e.text)
        places.append(box.centre)
        rig.phone.faults.set(tree_ms=tree_ms)
        return call("swipe", start_x=270, start_y=400, end_x=270, end_y=600)

    def point(request: ModelRequest) -> ModelReply:
        assert request.scene is not None
        assert (request.scene.screen.elements is None) == (tree_ms > 0)
        return call("tap", x=places[0].x, y=places[0].y)

    have, _ = models([find, point, call("finish", status="failure", summary="stopped")])
    work = Work(rig.agent(have), order("tell Alice"))
    question = (await work.until(Asked)).question
    assert question.consequence == "send"
    await work.answer("deny")
    await work.ended()
    assert rig.phone.truth.messages == sent


async def test_an_app_that_never_tells_elements_is_not_waited_for_each_time(rig: Rig) -> None:
    """Seen failing without the count: each press waited for four seconds more."""
    rig.phone.windows.launch("clock")
    rig.phone.faults.set(tree_ms=60_000)
    began: list[float] = []

    def point(_: ModelRequest) -> ModelReply:
        began.append(asyncio.get_running_loop().time())
        return call("tap", x=270, y=1100)

    have, _ = models([*[point] * 4, call("finish", status="failure", summary="no")])
    work = Work(rig.agent(have), order("look at the time"))
    await work.ended()
    assert len([line for line in rig.inputs() if line.startswith("input tap")]) == 4
    steps = [after - before for before, after in pairwise(began)]
    assert steps[1] > steps[-1] + 3
