"""The rest of a list of elements that says that it leaves out rows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent.dialects.scene_text import numbered
from agent.graph.executor.phone_tools import NOTHING_LEFT
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.run import Outcome
from agent.scene import Screen
from devices.virtual_phone.state import Note
from tests.agent.graph.rig import Rig, Work, direct_rig, order
from tests.fakes.scripted_model import call, models, text

pytestmark = pytest.mark.over_the_wire

FINE = 60
"""Dots per inch: a screen with three times as many rows as the usual one."""


def shown(request: ModelRequest) -> Screen:
    assert request.scene is not None
    return request.scene.screen


def rows(request: ModelRequest) -> int:
    return sum("Note " in line for line in shown(request).lines(numbered))


@pytest.fixture
async def crowded(virtual_time: None, real_world: None, wire: bool) -> AsyncIterator[Rig]:  # noqa: ARG001  # for the loop
    async with direct_rig(wire=wire, density=FINE) as rig:
        rig.phone.state.notes += [Note(100 + n, f"Note {n} {'with many words ' * 9}", "Milk") for n in range(90)]
        rig.phone.windows.launch("notes")
        yield rig


FINISH = call("finish", status="success", summary="It is read.")
PRINTED = text('<answer>do(action="show_all")</answer>')
PRINTED_END = text('<answer>finish(message="It is read.")</answer>')


@pytest.mark.parametrize(
    ("dialect", "reads", "ends"), [("tools", call("show_all"), FINISH), ("autoglm", PRINTED, PRINTED_END)]
)
async def test_what_is_left_out_is_shown_when_it_is_asked_for(
    crowded: Rig, dialect: str, reads: ModelReply, ends: ModelReply
) -> None:
    have, model = models([reads, ends])
    work = Work(crowded.agent(have, dialect=dialect), order("read the notes"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    first, second = model.asked(Purpose.ACT)
    assert shown(first).is_cut
    assert not shown(second).is_cut
    assert rows(second) > rows(first)


async def test_after_the_next_input_the_list_is_short_again(crowded: Rig) -> None:
    have, model = models([call("show_all"), call("scroll", direction="down"), FINISH])
    await Work(crowded.agent(have), order("read the notes")).ended()
    assert [shown(request).is_cut for request in model.asked(Purpose.ACT)] == [True, False, True]


async def test_where_nothing_is_left_out_the_model_is_told_so(rig: Rig) -> None:
    have, model = models([call("show_all"), FINISH])
    await Work(rig.agent(have), order("look around")).ended()
    scene = model.asked(Purpose.ACT)[1].scene
    assert scene is not None
    assert NOTHING_LEFT in scene.notices
