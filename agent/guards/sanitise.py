"""Makes words of a screen or model safe to show to people, so that nothing in them is hidden or reordered."""

from __future__ import annotations

import re
import unicodedata

HIDING = re.compile(
    r"[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
"""Invisible characters that reorder words (Unicode's bidirectional controls), end a line, carry hidden text, or push
words out of sight (fillers, a braille character without dots). Joiners are not included, because scripts and emoji need
them.
"""


def in_one_line(text: str) -> str:
    """Return the text on one line, with a symbol for each line break and invisible characters written out as
    ‹U+202E›.
    """
    seen = HIDING.sub(lambda found: f"‹U+{ord(found[0]):04X}›", text.replace("\r\n", "\n").replace("\n", " ⏎ "))
    return "".join(f"‹U+{ord(sign):04X}›" if unicodedata.category(sign) == "Cc" else sign for sign in seen)
