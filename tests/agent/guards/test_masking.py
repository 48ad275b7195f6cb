"""A typed secret is seen nowhere again."""

from __future__ import annotations

from PIL import Image

from agent.guards.masking import COVER, Mask
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

FIELD = Element(Bounds(10, 10, 30, 30), text="code 246810", editable=True)
OTHER = Element(Bounds(40, 40, 60, 60), text="Next")


def seen(elements: tuple[Element, ...] | None) -> Observation:
    return Observation(Size(80, 80), Image.new("RGB", (80, 80)), elements, focused_text="246810")


def test_nothing_to_hide_changes_nothing() -> None:
    look = seen((FIELD, OTHER))
    assert Mask().observation(look) is look


def test_words_and_pixels_are_covered() -> None:
    """Seen failing with the painting, or with `_covered`, taken out of `Mask.observation`."""
    mask = Mask()
    mask.add("246810")
    covered = mask.observation(seen((FIELD, OTHER)))
    assert covered.elements is not None
    assert "246810" not in repr(covered)
    assert covered.elements[1] == OTHER
    assert covered.focused_text == "••••••"
    assert covered.image is not None
    assert covered.image.getpixel((20, 20)) == COVER
    assert covered.image.getpixel((70, 70)) == (0, 0, 0)
    assert mask.text("typed 246810!") == "typed ••••••!"


def test_no_picture_where_nobody_can_tell_the_place() -> None:
    mask = Mask()
    mask.add("246810")
    assert mask.observation(seen(None)).image is None
