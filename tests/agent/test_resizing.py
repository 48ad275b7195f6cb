"""The quick way makes Pillow's picture. It reads Pillow's memory, whose layout may change with a version."""

from __future__ import annotations

import pytest
from PIL import Image, ImageChops

from agent.resizing import by_pillow, resized


@pytest.mark.parametrize(
    ("size", "target"), [((1080, 2400), (922, 2048)), ((720, 1280), (461, 820)), ((90, 200), (91, 203))]
)
def test_the_picture_is_that_of_pillow(size: tuple[int, int], target: tuple[int, int]) -> None:
    noise = Image.merge("RGB", [Image.effect_noise(size, 80) for _ in range(3)])
    difference = ImageChops.difference(resized(noise, target), by_pillow(noise, target))
    assert difference.size == target
    assert difference.point(lambda level: 255 if level > 1 else 0).getbbox() is None
