"""A phone without the fast lane: a model that points is asked before the phone has told its elements, and what it
decides is judged by them all the same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent.effect_facts import in_english
from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.ports.journal import ActionKey
from agent.questions import QuestionKind
from agent.run import Outcome, RunId
from devices.adb.ui_tree import parse
from devices.geometry import Size
from devices.virtual_phone.direct import DirectConnection, DirectShell
from tests.agent.graph.rig import Rig, Work, order, rig_on
from tests.fakes.scripted_model import call, models, text
from tests.fixtures.adb import AdbServer

FINISH = text('<answer>finish(message="done")</answer>')
GIVE_UP = text('<answer>finish(message="stopped", status="failure")</answer>')
SETTINGS = text('<answer>do(action="Launch", app="Settings")</answer>')
NOTES = text('<answer>do(action="Launch", app="Notes")</answer>')


@pytest.fixture
async def slow(rig: Rig) -> Rig:
    """Its phone needs more than a second for its elements."""
    rig.phone.faults.set(tree_ms=1200)
    return rig


async def touch(rig: Rig, label: str) -> ModelReply:
    """A touch of what has this label now, by a model that sees it."""
    told = await DirectShell(DirectConnection(rig.phone)).raw("uiautomator dump --compressed /dev/tty")
    size = Size(*rig.phone.scene().size)
    at = next(each for each in parse(told.decode(), size) if each.label == label).bounds.centre
    x, y = at.x * 1000 // size.width, at.y * 1000 // size.height
    return text(f'<answer>do(action="Tap", element=[{x},{y}])</answer>')


def listed(request: ModelRequest) -> bool:
    assert request.scene is not None
    return request.scene.screen.elements is not None


def dumps(rig: Rig) -> int:
    return len(rig.phone.journal.named("uiautomator"))


async def test_the_picture_goes_first_and_each_step_reads_the_elements_once(slow: Rig) -> None:
    slow.phone.windows.launch("notes")
    new = await touch(slow, "New note")
    slow.phone.windows.home()
    have, model = models([NOTES, new, FINISH])
    before = dumps(slow)
    work = Work(slow.agent(have, dialect="autoglm"), order("make a note"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    asked = model.asked(Purpose.ACT)
    assert [listed(request) for request in asked] == [True, False, False]
    assert all(request.scene and request.scene.screen.image for request in asked)
    assert slow.phone.truth.page == "edit"
    assert dumps(slow) - before == len(asked)
    # What a step changed is told with the words that came after the picture.
    assert [step.step for step in work.steps] == [1, 2, 3]
    assert "'New note'" in in_english(work.steps[0].effect)
    assert "in front" in in_english(work.steps[0].effect)
    assert "'New note'" in slow.journal.rows[ActionKey(RunId("7"), 1, 1, 0)].effect
    assert asked[2].scene is not None
    assert "'New note'" in in_english(asked[2].scene.past[0].effects)


async def test_what_is_done_is_judged_by_elements_that_came_after_the_picture(slow: Rig) -> None:
    """Seen failing (the order is placed) with the view left as the model was shown it."""
    slow.phone.state.cart.append("Desk lamp")
    slow.phone.windows.launch("shop")
    slow.phone.windows.open("payment")
    pay = await touch(slow, "Place order")
    slow.phone.windows.home()
    have, model = models([text('<answer>do(action="Launch", app="Shop")</answer>'), pay, GIVE_UP])
    work = Work(slow.agent(have, dialect="autoglm"), order("look at the cart"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert not listed(model.asked(Purpose.ACT)[1])
    await work.answer("no")
    await work.ended()
    assert slow.phone.truth.orders == ()


async def test_what_was_said_to_a_picture_that_the_elements_contradict_counts_for_nothing(slow: Rig) -> None:
    """Seen failing with neither picture nor window compared again: the window was touched."""
    slow.phone.windows.launch("notes")
    new = await touch(slow, "New note")
    slow.phone.windows.home()

    def pops_up(_: ModelRequest) -> ModelReply:
        slow.phone.pop_up("Update", "There is a new version.", ("Later",))
        slow.phone.changed()
        return new

    have, model = models([NOTES, pops_up, GIVE_UP])
    await Work(slow.agent(have, dialect="autoglm"), order("make a note")).ended()
    assert [request.scene.step for request in model.asked(Purpose.ACT) if request.scene] == [1, 2, 2]
    assert listed(model.asked(Purpose.ACT)[2])
    assert not any("input tap" in line for line in slow.inputs())


async def test_where_a_secret_was_typed_no_picture_goes_before_the_elements(slow: Rig) -> None:
    """Also in other apps, and in a later task. Seen failing with the elements never waited for in `after`."""
    slow.phone.windows.launch("account")
    slow.phone.windows.open("code", user="anna")
    slow.phone.windows.focus("code")
    types = text('<answer>do(action="Type", text="999999")</answer>')
    have, model = models([types, NOTES, FINISH, SETTINGS, FINISH])
    agent = slow.agent(have, dialect="autoglm")
    work = Work(agent, order("sign in"))
    assert (await work.until(Asked)).question.kind is QuestionKind.SECRET
    await work.answer(slow.secrets.keep("2468101"))
    await work.ended()
    slow.phone.windows.home()
    await Work(agent, order("look at the settings", task="8")).ended()
    asked = model.asked(Purpose.ACT)
    assert [request.scene.step for request in asked if request.scene] == [1, 2, 3, 1, 2]
    assert all(listed(request) for request in asked)


END = call("finish", status="success", summary="done")


async def test_a_model_that_calls_numbers_points_while_there_is_no_list(slow: Rig) -> None:
    """What it points at is where its words are in the list that comes meanwhile. Seen failing (a row is touched) with
    the point taken as it was given.
    """
    have, model = models(
        [call("open_app", name="Notes"), call("tap", x=300, y=300, on="New note"), call("key", key="back"), END]
    )
    before = dumps(slow)
    work = Work(slow.agent(have), order("look at the notes"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    asked = model.asked(Purpose.ACT)
    assert [listed(request) for request in asked] == [True, False, False, False]
    assert dumps(slow) - before == len(asked)
    assert "'Title'" in in_english(work.steps[1].effect), "a new note is open"


async def test_a_model_that_does_not_point_well_is_shown_lists_from_then_on(slow: Rig) -> None:
    """Nothing is touched by a number of a list that it was not shown."""
    blind = call("tap", element=1)
    have, model = models([call("open_app", name="Notes"), blind, call("open_app", name="Settings"), END])
    await Work(slow.agent(have), order("look at the notes")).ended()
    assert [listed(request) for request in model.asked(Purpose.ACT)] == [True, False, True, True]
    assert not any("input tap" in line for line in slow.inputs())


async def test_a_place_where_the_list_knows_of_nothing_is_touched_all_the_same(slow: Rig) -> None:
    """Drawn controls and web pages react where no element says so. Seen failing (nothing is sent) with such touches
    given back to the model.
    """
    have, model = models([call("open_app", name="Notes"), call("tap", x=20, y=500), END])
    await Work(slow.agent(have), order("look at the notes")).ended()
    assert sum("input tap" in line for line in slow.inputs()) == 1
    assert not any(
        "could not be used" in notice for r in model.asked(Purpose.ACT) if r.scene for notice in r.scene.notices
    )


@pytest.fixture
async def opening(adb_server: AdbServer) -> AsyncIterator[Rig]:
    """A phone whose fast lane takes its time to open."""
    async with rig_on(adb_server, fast_lane=True) as rig:
        rig.phone.faults.set(lane_start_ms=1500)
        yield rig


async def test_the_first_picture_does_not_wait_for_the_fast_lane(opening: Rig) -> None:
    """Seen failing with the first look as every other one."""
    opening.phone.windows.launch("notes")
    new = await touch(opening, "New note")
    have, model = models([new, FINISH])
    work = Work(opening.agent(have, dialect="autoglm"), order("make a note"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    first, second = model.asked(Purpose.ACT)
    assert (listed(first), listed(second)) == (False, True)
    assert first.scene is not None
    assert first.scene.screen.image is not None
    assert opening.phone.truth.page == "edit"
    assert "'Title'" in in_english(work.steps[0].effect)


async def test_a_first_screen_that_moves_meanwhile_is_shown_again(opening: Rig) -> None:
    """Nothing is done on what was shown first. Seen failing with the first look taken for one that stands still."""
    opening.phone.windows.launch("notes")
    new = await touch(opening, "New note")

    def pops_up(_: ModelRequest) -> ModelReply:
        opening.phone.pop_up("Update", "There is a new version.", ("Later",))
        opening.phone.changed()
        return new

    have, model = models([pops_up, GIVE_UP])
    await Work(opening.agent(have, dialect="autoglm"), order("make a note")).ended()
    assert [request.scene.step for request in model.asked(Purpose.ACT) if request.scene] == [1, 1]
    assert not any("input tap" in line for line in opening.inputs())


async def test_what_is_pressed_first_is_judged_by_elements_that_come_later(opening: Rig) -> None:
    """Seen failing (the order is placed) with the view left as the model was shown it and no elements asked for at the
    press (`wait_for_elements`); either is enough.
    """
    opening.phone.state.cart.append("Desk lamp")
    opening.phone.windows.launch("shop")
    opening.phone.windows.open("payment")
    have, model = models([await touch(opening, "Place order"), GIVE_UP])
    work = Work(opening.agent(have, dialect="autoglm"), order("look at the cart"))
    assert (await work.until(Asked)).question.kind is QuestionKind.APPROVE
    assert not listed(model.asked(Purpose.ACT)[0])
    await work.answer("no")
    await work.ended()
    assert opening.phone.truth.orders == ()
