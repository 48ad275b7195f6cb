"""A page that is still loading is no screen to show a model."""

from __future__ import annotations

import pytest

from devices.adb.settling import BAR, loads
from devices.geometry import Bounds
from devices.inputs import OpenApp
from devices.phone import Element
from tests.devices.adb.conftest import Bench

BOX = Bounds(0, 0, 9, 9)


def said(*words: str) -> tuple[Element, ...]:
    return tuple(Element(BOX, text=each) for each in words)


@pytest.mark.parametrize("words", [("Loading…",), ("Shop", "Back", "loading..."), ("请稍候",), ("Please wait",)])
def test_signs_of_loading(words: tuple[str, ...]) -> None:
    assert loads(said(*words))
    assert loads((*said(*words[:-1]), Element(BOX, class_name=BAR)))


@pytest.mark.parametrize("words", [(), ("Shop",), ("Loading dock", "Back"), ("Loading…", *"abcdefg")])
def test_other_screens(words: tuple[str, ...]) -> None:
    assert not loads(said(*words))
    assert not loads(None)


async def test_a_page_that_comes_late_is_waited_for(bench: Bench) -> None:
    """Seen failing with `loads` always false: the look then ends at "Loading…"."""
    await bench.phone.prepare()
    before = await bench.phone.observe()
    bench.virtual.faults.set(app_ms=900)
    await bench.phone.act(OpenApp("Shop"), receipt="a")
    seen = await bench.phone.observe(after=before, patience=10)
    assert "Blue mug" in {each.label for each in seen.elements or ()}
    await bench.phone.restore()


async def test_one_that_never_comes_is_shown_as_it_is(bench: Bench) -> None:
    await bench.phone.prepare()
    before = await bench.phone.observe()
    bench.virtual.faults.set(app_ms=60_000)
    await bench.phone.act(OpenApp("Shop"), receipt="a")
    seen = await bench.phone.observe(after=before, patience=0.8)
    assert loads(seen.elements)
    await bench.phone.restore()
