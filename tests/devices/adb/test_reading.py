from __future__ import annotations

from dataclasses import replace

import pytest

from devices.adb.fastlane.lane import FastLane
from devices.adb.observer import ScreenReading, same_elements, same_facts
from devices.adb.shell import Shell
from devices.adb.state import State
from devices.adb.ui_tree import Trees
from devices.errors import PhoneTimeout
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation
from tests.devices.adb.conftest import Bench

SIZE = Size(1080, 2400)
CLOCK = Element(Bounds(0, 0, 200, 60), text="11:14")
TITLE = Element(Bounds(0, 300, 1080, 400), text="Settings")


def test_a_ticking_clock_is_the_same_screen_and_another_title_is_not() -> None:
    assert same_elements((CLOCK, TITLE), (replace(CLOCK, text="11:15"), TITLE), SIZE)
    assert not same_elements((CLOCK, TITLE), (CLOCK, replace(TITLE, text="Display")), SIZE)
    assert not same_elements((TITLE,), (), SIZE)


def test_a_tree_that_did_not_come_contradicts_nothing() -> None:
    assert same_elements(None, (TITLE,), SIZE)
    assert same_elements((TITLE,), None, SIZE)


@pytest.mark.parametrize(
    "now",
    [
        State(package="b", activity="x"),
        State(package="a", activity="y"),
        State(package="a", activity="x", keyboard_shown=True),
        State(package="a", activity="x", rotation=1),
        State(package="a", activity="x", locked=True),
    ],
)
def test_another_app_or_keyboard_is_another_screen(now: State) -> None:
    """A dialog may look the same in another app. Seen failing with the package left out."""
    then = Observation(SIZE, None, None, package="a", activity="x")
    assert same_facts(then, State(package="a", activity="x"))
    assert not same_facts(then, now)


async def test_a_reading_that_is_begun_anew_leaves_the_phone_usable(bench: Bench) -> None:
    shell = Shell(bench.connection)
    reading = ScreenReading(Trees(shell, FastLane(shell)), shell)
    bench.virtual.faults.set(hang="uiautomator")
    reading.begin(SIZE)
    bench.virtual.faults.set(hang="")
    reading.begin(SIZE)
    elements, state = await reading.result()
    assert elements
    assert state.package == "com.android.launcher3"
    await reading.drop()


async def test_the_failure_of_a_reading_is_raised_and_forgotten_when_it_is_dropped(bench: Bench) -> None:
    shell = Shell(bench.connection)
    reading = ScreenReading(Trees(shell, FastLane(shell)), shell)
    bench.virtual.faults.set(hang="dumpsys")
    reading.begin(SIZE)
    with pytest.raises(PhoneTimeout):
        await reading.result()
    await reading.drop()
