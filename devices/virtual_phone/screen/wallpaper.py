"""The picture behind the launcher and the lock screen: an evening sky over hills, or a night."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter

# Painted this much smaller and enlarged: everything in it is soft.
REDUCTION = 4
DIM = 0.45


@dataclass(frozen=True, slots=True)
class _Scenery:
    """Sky colours from the top to the horizon, the light in it, and the hills from far to near."""

    sky: tuple[str, ...]
    light: str
    glow: str
    hills: tuple[str, ...]


EVENING = _Scenery(
    ("#274b8f", "#4a68b0", "#8d7fbf", "#e39a8c", "#f6c28b"),
    "#fff1cf",
    "#ffd9a0",
    ("#8a78ad", "#5f639f", "#3d4f86", "#273a68"),
)
NIGHT = _Scenery(
    ("#060918", "#0c1230", "#1a2150", "#2f2f66", "#46406f"),
    "#e9ecff",
    "#6f78b8",
    ("#2c2f5c", "#1f2549", "#151b38", "#0c1126"),
)
# How far down the sky reaches, and where the light stands, as shares of the screen.
HORIZON = 0.66
LIGHT_PLACE = (0.70, 0.50)


@lru_cache(maxsize=4)
def wallpaper(size: tuple[int, int], *, dark: bool, dim: bool) -> Image.Image:
    """The picture in a size. Not to be changed: it is kept."""
    scenery = NIGHT if dark else EVENING
    small = (max(2, size[0] // REDUCTION), max(2, size[1] // REDUCTION))
    image = _sky(small, scenery)
    _shine(image, scenery)
    for index, colour in enumerate(scenery.hills):
        _hill(image, index, colour)
    image = image.filter(ImageFilter.GaussianBlur(1)).resize(size, Image.Resampling.BICUBIC)
    return Image.blend(image, Image.new("RGB", size, "#000000"), DIM) if dim else image


def _sky(size: tuple[int, int], scenery: _Scenery) -> Image.Image:
    column = Image.new("RGB", (1, len(scenery.sky)))
    for index, colour in enumerate(scenery.sky):
        column.paste(colour, (0, index, 1, index + 1))
    image = Image.new("RGB", size, scenery.sky[-1])
    image.paste(column.resize((size[0], round(size[1] * HORIZON)), Image.Resampling.BICUBIC))
    return image


def _shine(image: Image.Image, scenery: _Scenery) -> None:
    width, height = image.size
    middle = (width * LIGHT_PLACE[0], height * LIGHT_PLACE[1])
    reach = min(width, height) * 0.085
    for colour, share, spread, blur in ((scenery.glow, 110, 2.6, 1.4), (scenery.light, 255, 1.0, 0.03)):
        mask = Image.new("L", image.size, 0)
        far = reach * spread
        box = (middle[0] - far, middle[1] - far, middle[0] + far, middle[1] + far)
        ImageDraw.Draw(mask).ellipse(box, fill=share)
        image.paste(colour, (0, 0), mask.filter(ImageFilter.GaussianBlur(reach * blur)))


def _hill(image: Image.Image, index: int, colour: str) -> None:
    """A ridge of two waves; nearer ones are lower and wider."""
    width, height = image.size
    base = height * (0.60 + 0.085 * index)
    lift = height * (0.035 + 0.006 * index)
    ridge = [
        (
            x,
            base
            - lift * math.sin(x / width * math.tau * (1.15 - 0.17 * index) + 1.9 * index + 0.6)
            - lift * 0.35 * math.sin(x / width * math.tau * 2.7 + 4.1 * index),
        )
        for x in range(-2, width + 3)
    ]
    ImageDraw.Draw(image).polygon([*ridge, (width + 2, height), (-2, height)], fill=colour)
