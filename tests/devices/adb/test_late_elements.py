"""A phone that needs a second for its elements, as every phone does without the fast lane: the picture comes first."""

from __future__ import annotations

import pytest

from devices.inputs import Key, OpenApp, PressKey, Tap, TypeText
from devices.phone import Element, Observation
from tests.devices.adb.conftest import Bench
from tests.devices.contract import element

SLOW_MS = 900


@pytest.fixture
async def slow(bench: Bench) -> Bench:
    """The phone of these tests, whose first tree has shown how long one takes."""
    await bench.phone.prepare()
    bench.virtual.faults.set(tree_ms=SLOW_MS)
    await bench.phone.observe()
    return bench


def dumps(bench: Bench) -> int:
    return len(bench.virtual.journal.named("uiautomator"))


async def opened(bench: Bench, *, elements: bool = False) -> Observation:
    """An early look at Notes, which was just opened."""
    before = await bench.phone.observe()
    await bench.phone.act(OpenApp("Notes"), receipt="o", later=True)
    return await bench.phone.observe(after=before, settle=False, elements=elements)


async def test_the_picture_comes_before_the_elements_and_they_are_read_once(slow: Bench) -> None:
    before = dumps(slow)
    early = await opened(slow)
    assert (early.complete, early.settled, early.elements) == (False, False, None)
    assert early.package == "org.example.notes"
    seen = await slow.phone.confirmed(early)
    assert seen is not None
    assert (seen.complete, seen.settled) == (True, True)
    assert element(seen, "New note").clickable
    assert "in front" in " ".join((seen.done or pytest.fail("nothing was told")).notes)
    assert dumps(slow) == before + 2, "the look before the launch, and the one after it"


async def test_a_window_that_comes_before_the_elements_makes_it_another_screen(slow: Bench) -> None:
    early = await opened(slow)
    slow.virtual.pop_up("Update", "There is a new version.", ("Later",))
    slow.virtual.changed()
    assert await slow.phone.confirmed(early) is None
    seen = await slow.phone.observe(after=early)
    assert element(seen, "Later").clickable


async def test_a_screen_that_was_not_seen_before_waits_for_its_list(slow: Bench) -> None:
    early = await opened(slow, elements=True)
    assert element(early, "New note").clickable
    before = dumps(slow)
    assert await slow.phone.confirmed(early)
    assert dumps(slow) == before


def but_the_clock(seen: Observation) -> list[Element]:
    """The elements of a screen that say the same in the next minute."""
    return [each for each in seen.elements or () if not each.resource_id.endswith("/clock")]


async def test_a_screen_that_comes_back_is_known_until_it_tells_something_else(slow: Bench) -> None:
    early = await opened(slow)
    notes = await slow.phone.confirmed(early)
    assert notes is not None
    await slow.phone.act(PressKey(Key.HOME), receipt="h")
    home = await slow.phone.observe(after=notes, settle=False)
    assert not home.complete
    assert element(home, "Settings").bounds.area
    assert await slow.phone.confirmed(home)
    await slow.phone.act(PressKey(Key.BACK), receipt="b")
    same = await slow.phone.observe(after=home, settle=False)
    assert but_the_clock(same) == but_the_clock(home)
    slow.virtual.faults.set(no_tree=True)
    assert await slow.phone.confirmed(same) is None, "nobody knows whether the list still holds"


async def test_a_text_is_read_back_by_the_look_that_follows(slow: Bench) -> None:
    early = await opened(slow)
    notes = await slow.phone.confirmed(early)
    assert notes is not None
    await slow.phone.act(Tap(element(notes, "New note").bounds.centre), receipt="n")
    page = await slow.phone.observe(after=notes)
    before = dumps(slow)
    done = await slow.phone.act(TypeText("Milk", at=element(page, "Title").bounds.centre), receipt="t", later=True)
    assert done.field_text is None
    early = await slow.phone.observe(after=page, settle=False, elements=False)
    assert early.done is None
    seen = await slow.phone.confirmed(early)
    assert seen is not None
    assert seen.done is not None
    assert seen.done.field_text == seen.focused_text == "Milk"
    assert dumps(slow) == before + 1


async def test_what_is_still_being_read_is_let_go_of_by_the_next_input(slow: Bench) -> None:
    await opened(slow)
    await slow.phone.act(PressKey(Key.HOME), receipt="h")
    seen = await slow.phone.observe()
    assert element(seen, "Settings").bounds.area
