"""Phones with two screens, and phones that print something before a picture."""

from __future__ import annotations

import pytest

from devices.adb.camera import Camera, in_use
from devices.adb.fastlane.lane import FastLane
from devices.adb.shell import Shell
from devices.errors import CaptureFailed
from devices.geometry import Size
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.scenario import Resize
from devices.virtual_phone.shell.commands.frame import DISPLAYS
from tests.devices.adb.conftest import SIZE, Bench

COVER, INNER = DISPLAYS


def camera(bench: Bench) -> Camera:
    return Camera(Shell(bench.connection), FastLane(Shell(bench.connection)))


def taken(bench: Bench) -> list[tuple[str, ...]]:
    return [entry.argv for entry in bench.virtual.journal.named("screencap")]


async def test_the_screen_that_is_in_use_is_taken(bench: Bench) -> None:
    """Seen failing without the number: it was the black one of the other screen."""
    bench.virtual.faults.set(two_displays=True)
    eye = camera(bench)
    frame = await eye.capture()
    assert frame.size == SIZE
    assert not frame.black
    assert taken(bench) == [("screencap",), ("screencap", "-d", INNER)]
    await eye.capture()
    assert len(taken(bench)) == 3, "it is asked once which screen that is"


async def test_a_black_picture_makes_a_phone_with_two_screens_be_asked_again(bench: Bench) -> None:
    bench.virtual.faults.set(two_displays=True)
    eye = camera(bench)
    await eye.capture()
    bench.virtual.faults.set(black=True)
    asked = len(bench.virtual.journal.named("dumpsys"))
    assert (await eye.capture()).black
    assert len(bench.virtual.journal.named("dumpsys")) == asked + 1
    assert len(taken(bench)) == 3, "it is the same screen: no second picture"


async def test_a_phone_that_is_folded_shows_itself_on_its_other_screen(bench: Bench) -> None:
    bench.virtual.faults.set(two_displays=True)
    eye = camera(bench)
    assert (await eye.capture()).size == SIZE
    await happen(bench.virtual, Resize(width=1080, height=2092))
    folded = await eye.capture()
    assert folded.size == Size(1080, 2092)
    assert not folded.black
    assert taken(bench)[-2:] == [("screencap", "-d", INNER), ("screencap", "-d", COVER)]


async def test_one_screen_needs_no_number(bench: Bench) -> None:
    bench.virtual.faults.set(black=True)
    assert (await camera(bench).capture()).black
    assert taken(bench) == [("screencap",)]
    assert bench.virtual.journal.named("dumpsys") == []
    assert await in_use(Shell(bench.connection)) == INNER


async def test_elements_touch_and_look_on_a_phone_with_two_screens(bench: Bench) -> None:
    bench.virtual.faults.set(two_displays=True)
    look = await bench.phone.observe()
    assert look.image is not None
    assert not look.secure
    assert look.elements


async def test_a_warning_alone_is_no_picture(bench: Bench) -> None:
    bench.virtual.faults.set(two_displays=True, truncate=True)
    with pytest.raises(CaptureFailed):
        await camera(bench).capture()
