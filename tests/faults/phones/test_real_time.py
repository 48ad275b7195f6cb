"""The cable is out for 5 s and for a minute, by the clock on the wall and with the grace that every run has.

The matrix beside this tries many more moments with a shorter absence and another grace. Here six phones are unplugged
at once, so that all of it takes little more than that minute.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from agent.events import TaskEnded, Told
from agent.outcome import Outcome
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.scenario import CableOut, Moment
from tests.agent.graph.rig import Rig, Work, order, rig_on
from tests.faults.phones.writer import NOTE, Writer, nothing_was_sent_twice
from tests.fixtures.adb import AdbServer

GRACE = 15.0
"""Seconds that people are told a phone is waited for."""
SHORT, LONG = 5.0, 60.0
HEADROOM = 10.0
"""Seconds that a busy machine may take to notice, and to write the end."""
BACK = 45.0
"""Seconds in which a phone on the network is dialled again after a minute away; the pauses double up to 32 s."""
LATER = "rye bread"


@dataclass(frozen=True)
class Cut:
    """The cable goes out when the phone has carried out such a request for the `times`-th time."""

    line: str
    times: int
    says: str
    """What the person or the model is told when it goes on."""


CAPTURE = Cut("screencap", 2, "phone is away")
INPUT = Cut("input tap", 1, "may or may not")
TYPING = Cut("ADB_INPUT_B64", 1, "may or may not")
CUTS = (CAPTURE, INPUT, TYPING)


async def unplugged(rig: Rig, cut: Cut, seconds: float) -> tuple[TaskEnded, float, str]:
    """The end of a task, its time after the cable went out, and everything that was told on the way."""
    rig.phone.moments.add(Moment(after=cut.line, times=cut.times, then=CableOut(seconds=seconds)))
    writer = Writer()
    work = Work(rig.agent(writer.models()[0]), order("write a note"))
    end = await work.ended()
    ended = time.time()
    nothing_was_sent_twice(rig)
    (out,) = [entry for entry in rig.phone.journal.entries if "cable_out" in entry.line and "after" not in entry.line]
    told = [event.text for event in work.events if isinstance(event, Told)]
    return end, ended - out.at, " ".join((end.summary, *told, *writer.told))


async def goes_on(rig: Rig, cut: Cut) -> None:
    """Out for less than the grace: the same run looks anew and finishes."""
    end, after, told = await unplugged(rig, cut, SHORT)
    assert end.outcome is Outcome.SUCCEEDED, told
    assert cut.says in told
    assert after > SHORT, "it cannot have looked anew before"
    assert rig.phone.truth.fields["title"] == NOTE


async def ends_and_is_of_use_again(rig: Rig, cut: Cut) -> None:
    """Out for longer: the run ends at the grace, nothing is done later, and the next task finds a working phone."""
    end, after, told = await unplugged(rig, cut, LONG)
    assert end.outcome is Outcome.BLOCKED, told
    assert "come back" in end.summary
    assert GRACE <= after < GRACE + HEADROOM
    assert rig.phone.link is LinkState.GONE, "it ended while the cable was out"
    sent = rig.inputs()
    await rig.phones.wait_for(rig.phones.list()[0].id, timeout=LONG - GRACE + BACK)
    assert rig.inputs() == sent, "what was given up is not done when the phone is back"
    again = await Work(rig.agent(Writer(text=LATER).models()[0]), order("write another", task="8")).ended()
    assert again.outcome is Outcome.SUCCEEDED, again.summary
    assert rig.phone.truth.fields["title"] == LATER
    nothing_was_sent_twice(rig)


@pytest.mark.timeout(240)  # it takes 65 s; others are stuck after two minutes
async def test_the_cable_is_out_for_five_seconds_and_for_a_minute(adb_server: AdbServer) -> None:
    """While a picture, a touch and a text are under way. Seen failing with a grace of 4 s, and of 61 s."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        for way in (goes_on, ends_and_is_of_use_again):
            for cut in CUTS:
                rig = await stack.enter_async_context(rig_on(adb_server))
                group.create_task(way(rig, cut), name=f"{way.__name__} {cut.line}")
