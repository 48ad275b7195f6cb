"""The quick ways make Pillow's picture. They use Pillow's memory, whose layout may change with a version."""

from __future__ import annotations

import pytest
from PIL import Image, ImageChops

from devices.resizing import by_pillow, resized, resized_bytes


@pytest.mark.parametrize(
    ("size", "target"), [((1080, 2400), (922, 2048)), ((720, 1280), (461, 820)), ((90, 200), (91, 203))]
)
def test_the_picture_is_that_of_pillow(size: tuple[int, int], target: tuple[int, int]) -> None:
    noise = Image.merge("RGB", [Image.effect_noise(size, 80) for _ in range(3)])
    of_bytes = resized_bytes(memoryview(noise.tobytes("raw", "RGBX")), size, target)
    assert of_bytes.mode == "RGBX"
    for made in (resized(noise, target), of_bytes.convert("RGB")):
        difference = ImageChops.difference(made, by_pillow(noise, target))
        assert difference.size == target
        assert difference.point(lambda level: 255 if level > 1 else 0).getbbox() is None
