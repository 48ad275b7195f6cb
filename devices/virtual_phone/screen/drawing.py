"""Paints a list of boxes with Pillow. The same list always gives the same picture."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter, features

from devices.geometry import Bounds
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.nodes import Fill, Frost, Glyph, Paint, Track, Veil, Wallpaper, Writing

# Colours by name, light and dark. Tones follow Material 3's baseline scheme.
THEMES = {
    "background": ("#fdfcff", "#121318"),
    "surface": ("#f1f0f7", "#1e2027"),
    "raised": ("#e8e7f0", "#2a2c35"),
    "text": ("#1b1b21", "#e5e4ec"),
    "muted": ("#5b5d69", "#b3b5c2"),
    "faint": ("#8e909c", "#80828e"),
    "line": ("#d9d9e3", "#3a3c46"),
    "primary": ("#3558c9", "#b7c4ff"),
    "on_primary": ("#ffffff", "#0e2678"),
    "container": ("#dce1ff", "#2f4190"),
    "on_container": ("#14296e", "#dce1ff"),
    "mine": ("#3558c9", "#3a4fa8"),
    "error": ("#ba1a1a", "#ffb4ab"),
    "good": ("#2e7d4f", "#7fd8a0"),
    "off_track": ("#e2e1ea", "#33353e"),
    "off_thumb": ("#757780", "#8e909c"),
    "keyboard": ("#e6e7ee", "#1a1c22"),
    "key": ("#ffffff", "#33353e"),
    "key_dark": ("#cdd1dd", "#464956"),
}
# The same in both themes: app icons, and what is written on pictures.
FIXED = {
    "white": "#ffffff",
    "soft_white": "#e4e8f5",
    "black": "#000000",
    "glass": "#3c4a73",
    "blue": "#2f6fed",
    "green": "#1f9d61",
    "orange": "#f08a24",
    "red": "#dc4646",
    "purple": "#7b52c7",
    "teal": "#12899a",
    "grey": "#606775",
    "pink": "#d6457f",
    "yellow": "#e5b02a",
    "emoji": "#e89c0c",
}

# Edges are drawn this much larger and reduced, since Pillow's shapes have hard edges.
SMOOTH = 4
# Share of black behind a dialog (Material's scrim is 0.32; AOSP's dialogs dim by 0.6).
VEIL = 0.5
# Share of white in a pane of frosted glass.
FROST = 0.22
# The font is the Japanese one of Noto CJK; this language picks the forms used in China, where the layout engine can.
SIMPLIFIED = "zh-Hans" if features.check("raqm") else None

# Painted this much smaller and enlarged: everything in it is soft.
REDUCTION = 4
DIM = 0.45


def colour(name: str, *, dark: bool) -> str:
    """Return the colour of a name as #rrggbb. Raises KeyError for an unknown name."""
    return FIXED.get(name) or THEMES[name][dark]


def draw(size: tuple[int, int], layer: Iterable[tuple[Bounds, Paint]], *, dark: bool) -> Image.Image:
    """Return a picture (RGB) of this size with everything in `layer`, painted in order."""
    image = Image.new("RGB", size, colour("background", dark=dark))
    pen = ImageDraw.Draw(image)
    for box, paint in layer:
        if box.bottom <= 0 or box.top >= size[1] or box.right <= box.left or box.bottom <= box.top:
            continue
        match paint:
            case Fill():
                _fill(image, pen, box, paint, dark=dark)
            case Writing():
                _write(pen, box, paint, dark=dark)
            case Glyph():
                middle = box.centre
                pen.text(
                    (middle.x, middle.y),
                    fonts.icon(paint.name),
                    font=fonts.icons(paint.size),
                    fill=colour(paint.colour, dark=dark),
                    anchor="mm",
                )
            case Track():
                _switch(image, pen, box, on=paint.on, dark=dark)
            case Wallpaper():
                image.paste(wallpaper(size, dark=dark, dim=paint.dim))
            case Frost():
                _frost(image, box, paint.radius)
            case Veil():
                image.paste(Image.blend(image, Image.new("RGB", size, "#000000"), VEIL))
    return image


def _fill(image: Image.Image, pen: ImageDraw.ImageDraw, box: Bounds, paint: Fill, *, dark: bool) -> None:
    ink = colour(paint.colour, dark=dark)
    if not paint.radius:
        pen.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=ink)
        return
    width, height = box.right - box.left, box.bottom - box.top
    if paint.border:
        image.paste(colour(paint.border, dark=dark), (box.left, box.top), _mask(width, height, paint.radius))
        edge = 3
        mask = _mask(width - 2 * edge, height - 2 * edge, max(1, paint.radius - edge))
        image.paste(ink, (box.left + edge, box.top + edge), mask)
    else:
        image.paste(ink, (box.left, box.top), _mask(width, height, paint.radius))


@lru_cache(maxsize=256)
def _mask(width: int, height: int, radius: int) -> Image.Image:
    """A rounded rectangle with smooth corners."""
    radius = min(radius, width // 2, height // 2)
    mask = Image.new("L", (max(1, width), max(1, height)), 255)
    if radius < 1:
        return mask
    large = Image.new("L", (radius * 2 * SMOOTH, radius * 2 * SMOOTH), 0)
    ImageDraw.Draw(large).ellipse((0, 0, radius * 2 * SMOOTH - 1, radius * 2 * SMOOTH - 1), fill=255)
    disc = large.reduce(SMOOTH)
    for left in (0, 1):
        for top in (0, 1):
            corner = disc.crop((left * radius, top * radius, (left + 1) * radius, (top + 1) * radius))
            mask.paste(corner, (left * (width - radius), top * (height - radius)))
    return mask


def _write(pen: ImageDraw.ImageDraw, box: Bounds, paint: Writing, *, dark: bool) -> None:
    ink = colour(paint.colour, dark=dark)
    # The baseline sits where Android puts it: the ascent of Roboto is about 0.93 of its size.
    baseline = box.top + round((paint.line_height - paint.size) / 2 + paint.size * 0.86)
    for line in paint.lines:
        left = float(box.left)
        spare = box.right - box.left - fonts.width(line, paint.size, paint.weight)
        if paint.align == "centre":
            left += spare / 2
        elif paint.align == "right":
            left += spare
        for script, piece in fonts.runs(line):
            font, written = fonts.set_in(script, piece, size=paint.size, weight=paint.weight)
            language = SIMPLIFIED if script is fonts.Script.CHINESE else None
            drawn = colour("emoji", dark=dark) if script is fonts.Script.EMOJI else ink
            pen.text((left, baseline), written, font=font, fill=drawn, anchor="ls", language=language)
            left += font.getlength(written)
        baseline += paint.line_height


def _switch(image: Image.Image, pen: ImageDraw.ImageDraw, box: Bounds, *, on: bool, dark: bool) -> None:
    """Material 3: a track of 52 by 32 with a thumb of 24 (on) or 16 (off)."""
    height = box.bottom - box.top
    width = height * 52 // 32
    track = Bounds(box.right - width, box.top, box.right, box.bottom)
    fill = Fill("primary", height // 2) if on else Fill("off_track", height // 2, "off_thumb")
    _fill(image, pen, track, fill, dark=dark)
    reach = height * (12 if on else 8) // 32
    across = track.right - height // 2 if on else track.left + height // 2
    along = box.centre.y
    thumb = Bounds(across - reach, along - reach, across + reach, along + reach)
    _fill(image, pen, thumb, Fill("on_primary" if on else "off_thumb", reach), dark=dark)


def _frost(image: Image.Image, box: Bounds, radius: int) -> None:
    place = (box.left, box.top, box.right, box.bottom)
    behind = image.crop(place)
    small = behind.reduce(8).filter(ImageFilter.GaussianBlur(3)).resize(behind.size, Image.Resampling.BICUBIC)
    pane = Image.blend(small, Image.new("RGB", behind.size, "#ffffff"), FROST)
    image.paste(pane, (box.left, box.top), _mask(*behind.size, radius))


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
# The lower end of the sky and the position of the light, as shares of the screen.
HORIZON = 0.66
LIGHT_PLACE = (0.70, 0.50)


@lru_cache(maxsize=4)
def wallpaper(size: tuple[int, int], *, dark: bool, dim: bool) -> Image.Image:
    """Return the wallpaper in this size. It is cached, so it must not be changed."""
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
