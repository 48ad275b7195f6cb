"""Suggests instructions that the pilot can follow and that are similar to one that it cannot follow."""

from __future__ import annotations

from agent.offline.clauses import Unreadable
from agent.offline.grammar import read
from agent.offline.patterns import patterns
from agent.offline.vocabulary import wording

MAX_NEAR = 3
MAX_LETTERS = 60
"""The maximum number of letters of a suggested instruction, because it is shown on a button."""


def nearest(text: str, *, chinese: bool) -> tuple[str, ...]:
    """Return at most MAX_NEAR instructions that are similar to this text and that the pilot can follow, the closest
    first.
    """
    found: list[str] = []
    for near in patterns().near:
        if (fits := near.pattern.fullmatch(text.strip(" .!?。！？"))) is None:
            continue
        groups = {name.rstrip("234"): value.strip() for name, value in fits.groupdict().items() if value}
        found += [form.format(**groups) for form in (near.zh if chinese else near.en)]
    return tuple(filter(_is_read, dict.fromkeys(found)))[:MAX_NEAR]


def offered(near: tuple[str, ...], *, chinese: bool) -> str:
    """Return a sentence for people that offers these instructions; "" if there are none."""
    if not near:
        return ""
    texts = wording("join", chinese=chinese).join(f"“{text}”" for text in near)
    return wording("offer", chinese=chinese, texts=texts)


def _is_read(text: str) -> bool:
    try:
        read(text)
    except Unreadable:
        return False
    return len(text) <= MAX_LETTERS
