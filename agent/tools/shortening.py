"""Shortens tool results for models."""

from __future__ import annotations

from agent.wording import shortened


def head_and_tail(text: str, most: int) -> str:
    """Return the text or, if it has more than `most` characters, its beginning and end with a mark that says how many
    are missing.
    """
    if len(text) <= most:
        return text
    tail = most // 4
    head = most - tail
    return f"{text[:head]}\n[… {len(text) - most} characters are left out here …]\n{text[-tail:]}"


def in_a_line(text: str, most: int) -> str:
    """Return the text in one line, cut off after `most` characters."""
    return shortened(" ".join(text.split()), most)
