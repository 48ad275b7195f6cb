"""Pieces of what others write, put together as no writer would."""

from __future__ import annotations

import json
import string

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

ODD_SIGNS = st.sampled_from(
    ["\x00", "\x1b", "\x7f", "\x85", "\u00ad", "\u200b", "\u2028", "\u2029", "\u202e", "\ud800", "\udfff", "\ufeff"]
    + ["\r\n", "😀", "你", "ﬁ", "²", "٣", "İ", "𝐀"]
)
WORDS = st.text(string.printable, max_size=8) | ODD_SIGNS | st.text(max_size=5)


def mixed(*pieces: str, most: int = 25) -> SearchStrategy[str]:
    """Texts of these pieces and of odd ones."""
    return st.lists(st.sampled_from(pieces) | WORDS, max_size=most).map("".join)


def damaged(*valid: str) -> SearchStrategy[str]:
    """Valid texts with a part taken out, doubled or replaced."""

    def broken(text: str, at: int, length: int, piece: str, again: bool) -> str:
        at %= len(text) + 1
        cut = text[at : at + length]
        return text[:at] + piece + (cut * 2 if again else "") + text[at + length :]

    return st.builds(
        broken, st.sampled_from(valid), st.integers(0, 5000), st.integers(0, 9), WORDS | st.just(""), st.booleans()
    )


NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -1, 2**63, 2**31])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def json_with(**fields: SearchStrategy[object]) -> SearchStrategy[dict[str, object]]:
    """Objects with some of these fields, sometimes of a wrong kind, and sometimes more."""
    known = st.fixed_dictionaries({}, optional={name: values | JSON for name, values in fields.items()})
    return st.builds(lambda one, more: {**more, **one}, known, st.dictionaries(WORDS, JSON, max_size=1))


def json_text(value: object) -> str:
    """As a program writes it that checks nothing."""
    return json.dumps(value)
