"""Paints a list of boxes with Pillow. Pure: the same list gives the same picture."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFilter, features

from devices.geometry import Bounds
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.nodes import Fill, Frost, Glyph, Paint, Track, Veil, Wallpaper, Writing
from devices.virtual_phone.screen.theme import colour
from devices.virtual_phone.screen.wallpaper import wallpaper

# Edges are drawn this much larger and reduced, since Pillow's shapes have hard edges.
SMOOTH = 4
# Share of black behind a dialog (Material's scrim is 0.32; AOSP's dialogs dim by 0.6).
VEIL = 0.5
# Share of white in a pane of frosted glass.
FROST = 0.22
# The font is the Japanese one of Noto CJK; this language picks the forms used in China, where the layout engine can.
SIMPLIFIED = "zh-Hans" if features.check("raqm") else None


def draw(size: tuple[int, int], layer: Iterable[tuple[Bounds, Paint]], *, dark: bool) -> Image.Image:
    """The picture of everything in order, RGB."""
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
    """Blurs and lightens a part of the picture."""
    place = (box.left, box.top, box.right, box.bottom)
    behind = image.crop(place)
    small = behind.reduce(8).filter(ImageFilter.GaussianBlur(3)).resize(behind.size, Image.Resampling.BICUBIC)
    pane = Image.blend(small, Image.new("RGB", behind.size, "#ffffff"), FROST)
    image.paste(pane, (box.left, box.top), _mask(*behind.size, radius))
