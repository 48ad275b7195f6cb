"""What a run makes of whatever can go wrong with its phone: it survives, or ends and says how.

Each row lets one thing happen at one moment of the same small task, through the real agent graph, driver, pool and adb
server. Whatever happens: nothing reaches the phone twice, and the note is never half-written and called done.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from agent.events import Asked, TaskEnded, Told
from agent.run import Outcome
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.faults import FaultValue
from devices.virtual_phone.scenario import CableOut, Happening, Link, Moment, Reboot, RestartAdbd, SetFaults
from tests.agent.graph.rig import LIMIT, Rig, Work, order
from tests.faults.phones.writer import NOTE, Writer, nothing_was_sent_twice
from tests.fixtures.adb import AdbServer

CHINESE = "牛奶 & 2 eggs"
LONG, SHORT = 20.0, 0.3
"""Seconds of grace: much more, and much less, than the phone is away. The real 15 s stand between 5 s and a minute."""
SOON, GONE = CableOut(seconds=0.2), Link(state=LinkState.GONE)
RESTART = Reboot(seconds=0.3, start_seconds=1)


def at(line: str, then: Happening, *, times: int = 1, before: bool = False) -> Moment:
    """Something happens when the phone gets such a request."""
    return Moment(after=line, times=times, before=before, then=then)


def faults(**values: FaultValue) -> SetFaults:
    return SetFaults(values=values)


@dataclass(frozen=True)
class Row:
    """One case: what happens when, how long an unplugged phone is waited for, and how it ends."""

    name: str
    moments: tuple[Moment, ...]
    ends: Outcome = Outcome.SUCCEEDED
    says: str = ""
    """A part of the summary, of what people are told on the way, or of what the model is told."""
    grace: float = LONG
    adb_keyboard: bool = True
    asks: bool = False
    """Whether a person is asked, who allows it."""


SURVIVED = (
    Row("cable out for 5 s in a capture", (at("screencap", SOON, times=2),), says="phone is away"),
    Row("cable out for 5 s in the elements", (at("uiautomator", SOON, times=2),), says="phone is away"),
    Row("cable out for 5 s while it is prepared", (at("ime list", SOON),)),
    Row("cable out for 5 s before a touch arrives", (at("input tap", SOON, before=True),), says="may or may not"),
    Row("cable out for 5 s after a touch arrived", (at("input tap", SOON),), says="may or may not"),
    Row("cable out for 5 s before a text arrives", (at("ADB_INPUT_B64", SOON, before=True),), says="may or may not"),
    Row("cable out for 5 s after a text arrived", (at("ADB_INPUT_B64", SOON),), says="may or may not"),
    Row(
        "cable out for 5 s between the keys of a text",
        (at("input text", SOON, before=True),),
        says="may or may not",
        adb_keyboard=False,
    ),
    Row("cable out for 5 s while an app opens", (at("am start", SOON),), says="may or may not"),
    Row("cable out twice", (at("am start", SOON), at("input tap", SOON)), says="may or may not"),
    Row("adbd ends and starts again in a capture", (at("screencap", RestartAdbd(), times=3),)),
    Row("adbd ends and starts again in a touch", (at("input tap", RestartAdbd()),), says="may or may not"),
    Row("it restarts in a look", (at("uiautomator", RESTART, times=2),), says="phone is away"),
    Row("it restarts in a touch", (at("input tap", RESTART),), says="may or may not"),
    Row(
        "one frame is cut off",
        (at("screencap", faults(truncate=True)), at("screencap", faults(truncate=False), times=3)),
    ),
    Row("pictures turn black", (at("am start", faults(black=True)),), asks=True),
    Row("the phone's own keyboard comes back", (at("ime set", faults(reset_keyboard=True)),)),
    Row("the storage fills up", (at("am start", faults(storage_full=True)),)),
)
ENDED = (
    Row("cable out for a minute in a capture", (at("screencap", GONE, times=2),), Outcome.BLOCKED, "come back", SHORT),
    Row("cable out for a minute while it is prepared", (at("ime list", GONE),), Outcome.BLOCKED, "come back", SHORT),
    Row("cable out for a minute in a touch", (at("input tap", GONE),), Outcome.BLOCKED, "come back", SHORT),
    Row("cable out for a minute in a text", (at("ADB_INPUT_B64", GONE),), Outcome.BLOCKED, "come back", SHORT),
    Row(
        "it does not trust the computer any more",
        (at("am start", Link(state=LinkState.UNAUTHORIZED)),),
        Outcome.BLOCKED,
        "Allow USB debugging",
        grace=1.5,
    ),
    Row("every frame is cut off", (at("am start", faults(truncate=True)),), Outcome.FAILED, "sent no picture"),
    Row(
        "adb is not allowed to touch the screen",
        (at("am start", faults(no_touch=True)),),
        Outcome.BLOCKED,
        "USB debugging (Sec",
    ),
)


FAST = (
    Row("cable out for 5 s before the lane gets a text", (at("setText", SOON, before=True),), says="may or may not"),
    Row("cable out for 5 s after the lane typed", (at("setText", SOON),), says="may or may not"),
    Row("cable out for 5 s while the lane tells elements", (at("dumpWindowHierarchy", SOON, times=2),)),
    Row("adbd starts again after the lane typed", (at("setText", RestartAdbd()),), says="may or may not"),
    Row("the storage fills up", (at("dumpWindowHierarchy", faults(storage_full=True)),)),
)


async def done(rig: Rig, row: Row, writer: Writer) -> tuple[TaskEnded, str]:
    """The end of the task, and everything that was told on the way."""
    rig.phone.state.adb_keyboard_installed = row.adb_keyboard
    for moment in row.moments:
        rig.phone.moments.add(moment)
    have, _ = writer.models()
    work = Work(rig.agent(have, grace=row.grace), order("write a note"))
    if row.asks:
        await work.until(Asked)
        await work.answer("allow")
    end = await work.ended()
    nothing_was_sent_twice(rig)
    told = [event.text for event in work.events if isinstance(event, Told)]
    return end, " ".join((end.summary, *told, *writer.told))


@pytest.mark.parametrize("row", SURVIVED, ids=lambda row: row.name)
async def test_survived(adb_rig: Rig, row: Row) -> None:
    end, told = await done(adb_rig, row, Writer())
    assert end.outcome is Outcome.SUCCEEDED, told
    assert adb_rig.phone.truth.fields["title"] == NOTE
    assert row.says in told
    assert not [moment for moment in adb_rig.phone.moments.waiting if moment.after != "screencap"], "it did not happen"


@pytest.mark.parametrize("row", FAST, ids=lambda row: row.name)
async def test_survived_on_the_fast_lane(fast_rig: Rig, row: Row) -> None:
    end, told = await done(fast_rig, row, Writer(text=CHINESE))
    assert end.outcome is Outcome.SUCCEEDED, told
    assert fast_rig.phone.truth.fields["title"] == CHINESE
    assert row.says in told
    assert fast_rig.phone.moments.waiting == ()


@pytest.mark.parametrize("row", ENDED, ids=lambda row: row.name)
async def test_ended_and_said(adb_rig: Rig, adb_server: AdbServer, row: Row) -> None:
    rig = adb_rig
    end, told = await done(rig, row, Writer())
    assert end.outcome is row.ends, told
    assert row.says in told
    sent = rig.inputs()
    await rig.phone.set_link(LinkState.OPEN)
    await adb_server.connect(rig.phone.address)
    async with asyncio.timeout(LIMIT):
        await rig.phones.wait_for(rig.phones.list()[0].id, timeout=LIMIT)
    assert rig.inputs() == sent, "what was given up is not done when the phone is back"
