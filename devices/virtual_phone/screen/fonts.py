"""Fonts for text and icons: Roboto for Latin, Noto Sans CJK for Chinese, Material Design Icons for icons and emoji.

Emoji are drawn as icons: the text fonts contain none, and a colour font has ten megabytes.
"""

from __future__ import annotations

import itertools
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path

import fontpkg
from fonticon_mdi7 import MDI7
from noto_cjk_sans_jp_regular import FONT_PATH
from PIL import ImageFont

# Emoticons, pictographs, transport, supplemental symbols (Unicode blocks), and the older signs among them.
EMOJI_RANGES = ((0x1F000, 0x1FAFF), (0x2600, 0x27BF), (0x2B50, 0x2B55), (0x231A, 0x231B))
# Joiner, presentation, skin tones: they change the sign before them and are none by themselves.
EMOJI_MODIFIERS = {0x200D, 0xFE0F, 0xFE0E, *range(0x1F3FB, 0x1F400)}
ANY_EMOJI = "emoticon_outline"
EMOJI_ICONS = {
    "😀😃😄😁🙂😊☺": "emoticon_happy_outline",
    "😂🤣😆😅": "emoticon_lol_outline",
    "😉😜": "emoticon_wink_outline",
    "😍🥰😘": "emoticon_kiss_outline",
    "😎": "emoticon_cool_outline",
    "😢😭": "emoticon_cry_outline",
    "😞☹🙁😔": "emoticon_sad_outline",
    "😠😡": "emoticon_angry_outline",
    "😐😑": "emoticon_neutral_outline",
    "👋🖐✋": "hand_front_right_outline",
    "👍": "thumb_up_outline",
    "👎": "thumb_down_outline",
    "👌": "hand_okay",
    "✌": "hand_peace",
    "👏🙏🙌": "hand_clap",
    "❤💙💚💛💜🧡🖤💕": "heart",
    "⭐🌟✨": "star",
    "🎉🎊🥳": "party_popper",
    "🎂🍰": "cake_variant",
    "🎁": "gift",
    "🔥": "fire",
    "☀🌞": "white_balance_sunny",
    "☁🌧": "weather_rainy",
    "❄": "snowflake",
    "☂☔": "umbrella",
    "☕🍵": "coffee",
    "🍺🍻": "beer",
    "🍕": "pizza",
    "🍎": "food_apple",
    "🥛": "bottle_soda",
    "🥚": "egg",
    "🚗🚕": "car",
    "🚀": "rocket",
    "✈": "airplane",
    "🏠🏡": "home",
    "📷📸": "camera",
    "📱": "cellphone",
    "💻": "laptop",
    "📅": "calendar",
    "⏰": "alarm",
    "📞☎": "phone",
    "✉📧": "email",
    "🐱": "cat",
    "🐶": "dog",
    "💡": "lightbulb",
    "🎵🎶": "music",
    "✅✔": "check",
    "❌✖": "close",
    "❗⚠": "alert",
    "❓": "help",
}
_BY_SIGN = {sign: name for signs, name in EMOJI_ICONS.items() for sign in signs}

# From here on (CJK Radicals) Roboto has no glyphs.
FIRST_CJK = 0x2E80
# Paragraph separators (bidirectional class B): the layout of a single line fails on them.
BLANKS = dict.fromkeys(map(ord, "\n\r\x1c\x1d\x1e\x85\u2029"), " ")
ROBOTO_WEIGHT_AXIS = b"Weight"
ICON_FONT = Path(MDI7.__font_file__)


def is_emoji(sign: str) -> bool:
    """Return whether this character is an emoji or modifies one."""
    number = ord(sign)
    return number in EMOJI_MODIFIERS or any(first <= number <= last for first, last in EMOJI_RANGES)


def pictured(text: str) -> str:
    """Return the emoji in this text as characters of the icon font, without modifiers."""
    signs = [sign for sign in text if ord(sign) not in EMOJI_MODIFIERS]
    # The package puts the font's name in front of the character.
    return "".join(str(getattr(MDI7, _BY_SIGN.get(sign, ANY_EMOJI)))[-1] for sign in signs)


@lru_cache(maxsize=256)
def latin(size: int, weight: int) -> ImageFont.FreeTypeFont:
    """Return Roboto at this size in pixels; `weight` is 100 to 900."""
    font = ImageFont.truetype(str(fontpkg.path("Roboto")), size)
    axes = font.get_variation_axes()
    font.set_variation_by_axes(
        [float(weight if axis.get("name") == ROBOTO_WEIGHT_AXIS else axis["default"] or 0) for axis in axes]
    )
    return font


@lru_cache(maxsize=64)
def chinese(size: int) -> ImageFont.FreeTypeFont:
    """Return Noto Sans CJK at this size in pixels."""
    return ImageFont.truetype(str(FONT_PATH), size)


@lru_cache(maxsize=64)
def icons(size: int) -> ImageFont.FreeTypeFont:
    """Return the icon font at this size in pixels."""
    return ImageFont.truetype(str(ICON_FONT), size)


def icon(name: str) -> str:
    """Return the character of an icon by its name in Material Design Icons, with underscores."""
    character: str = getattr(MDI7, name)
    return character


class Script(Enum):
    """The script of a piece of text, which decides its font."""

    LATIN = auto()
    CHINESE = auto()
    EMOJI = auto()


def runs(text: str) -> list[tuple[Script, str]]:
    """Split the text where the font changes. Characters that end a paragraph become spaces."""
    return [
        (script, "".join(characters)) for script, characters in itertools.groupby(text.translate(BLANKS), key=_script)
    ]


def _script(character: str) -> Script:
    if is_emoji(character):
        return Script.EMOJI
    return Script.CHINESE if ord(character) >= FIRST_CJK else Script.LATIN


def set_in(script: Script, piece: str, *, size: int, weight: int) -> tuple[ImageFont.FreeTypeFont, str]:
    """Return the font for a piece of text in this script, and the piece in that font's characters."""
    match script:
        case Script.CHINESE:
            return chinese(size), piece
        case Script.EMOJI:
            return icons(size), pictured(piece)
        case Script.LATIN:
            return latin(size, weight), piece


@lru_cache(maxsize=8192)
def width(text: str, size: int, weight: int) -> float:
    """Return the width of a line of text in pixels."""
    parts = (set_in(script, piece, size=size, weight=weight) for script, piece in runs(text))
    return sum(font.getlength(piece) for font, piece in parts)


@lru_cache(maxsize=2048)
def wrapped(text: str, size: int, weight: int, room: int, most: int) -> tuple[str, ...]:
    """Wrap the text into lines no wider than `room` pixels, at most `most` lines (0: no limit). A line that is cut off
    ends with an ellipsis.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        current = ""
        for piece in _pieces(paragraph):
            if current and width((current + piece).rstrip(), size, weight) > room:
                lines.append(current.rstrip())
                current = ""
            for character in piece if width(piece, size, weight) > room else (piece,):
                if current and width(current + character, size, weight) > room:
                    lines.append(current)
                    current = ""
                current += character
        lines.append(current.rstrip())
    if most and len(lines) > most:
        last = lines[most - 1]
        while last and width(last + "…", size, weight) > room:
            last = last[:-1]
        lines = [*lines[: most - 1], last.rstrip() + "…"]
    return tuple(lines)


def _pieces(paragraph: str) -> list[str]:
    """Where a line may break: after a space, and between Chinese characters."""
    pieces: list[str] = []
    for script, piece in runs(paragraph):
        if script is not Script.LATIN:
            pieces.extend(piece)
        else:
            words = piece.split(" ")
            pieces.extend(word + " " for word in words[:-1])
            pieces.append(words[-1])
    return [piece for piece in pieces if piece]
