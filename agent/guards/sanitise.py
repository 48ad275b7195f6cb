"""Words of a screen or a model as a person is shown them before they allow something: nothing hides or moves."""

from __future__ import annotations

import re
import unicodedata

HIDING = re.compile(
    r"[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
"""Signs without a look of their own that reorder the words around them (Unicode's bidirectional controls), end a line,
carry hidden ones, or push words out of sight as letters that look like nothing (fillers, a braille sign without dots).
Joiners stay: scripts and emoji need them.
"""


def in_one_line(text: str) -> str:
    """The text in one line, so that it cannot pass for several, with what cannot be seen written out as ‹U+202E›."""
    seen = HIDING.sub(lambda found: f"‹U+{ord(found[0]):04X}›", text.replace("\r\n", "\n").replace("\n", " ⏎ "))
    return "".join(f"‹U+{ord(sign):04X}›" if unicodedata.category(sign) == "Cc" else sign for sign in seen)
