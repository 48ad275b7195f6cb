"""What an action did, as facts and in the words that models read."""

from __future__ import annotations

from dataclasses import replace

from PIL import Image

from agent.effect_facts import in_english
from agent.effects import changed, difference, fingerprint
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

SIZE = Size(200, 400)


def text(words: str, top: int = 100, *, checkable: bool = False, checked: bool = False) -> Element:
    return Element(Bounds(0, top, 100, top + 20), text=words, checkable=checkable, checked=checked)


def look(*elements: Element, colour: int = 0, package: str = "app") -> Observation:
    image = Image.new("RGB", (SIZE.width, SIZE.height), (colour, colour, colour))
    return Observation(SIZE, image, elements, package=package, activity="Main")


def described(before: Observation, after: Observation) -> str:
    return in_english(difference(before, after))


def test_nothing_changed() -> None:
    assert described(look(text("A")), look(text("A"))) == "nothing visible changed"
    assert not changed(look(text("A")), look(text("A")))


def test_the_clock_in_the_status_bar_does_not_count() -> None:
    assert described(look(text("10:00", top=0)), look(text("10:01", top=0))) == "nothing visible changed"
    assert fingerprint(look(text("10:00", top=0))) == fingerprint(look(text("10:01", top=0)))


def test_words_app_keyboard_and_switches_are_told() -> None:
    before = look(text("Wi-Fi", checkable=True), text("Old"))
    after = replace(
        look(text("Wi-Fi", checkable=True, checked=True), text("New"), package="other"), keyboard_shown=True
    )
    said = described(before, after)
    assert said == "app is now other; new: 'New'; gone: 'Old'; keyboard opened; 'Wi-Fi' is now on"
    assert changed(before, after)
    assert fingerprint(before) != fingerprint(after)


def test_pixels_alone_are_a_change() -> None:
    assert described(look(), look(colour=80)) == "the screen changed"
    assert fingerprint(look()) != fingerprint(look(colour=80))


def test_many_new_words_are_cut_short() -> None:
    said = described(look(), look(*[text(f"word {n}", top=50 + n) for n in range(9)]))
    assert said.endswith("and 3 more")


def test_a_word_that_stands_elsewhere_too_is_told() -> None:
    before = look(text("Wi-Fi"), text("On", top=120), text("Bluetooth", top=160), text("Off", top=180))
    after = look(text("Wi-Fi"), text("On", top=120), text("Bluetooth", top=160), text("On", top=180))
    assert described(before, after) == "new: 'On'; gone: 'Off'"
    assert changed(before, after)
    assert fingerprint(before) != fingerprint(after)
