"""Results of tools, made short enough for a model."""

from __future__ import annotations

from agent.wording import shortened


def head_and_tail(text: str, most: int) -> str:
    """The text, or its beginning and its end with a mark between them that says how much is missing."""
    if len(text) <= most:
        return text
    tail = most // 4
    head = most - tail
    return f"{text[:head]}\n[… {len(text) - most} characters are left out here …]\n{text[-tail:]}"


def in_a_line(text: str, most: int) -> str:
    """The text in one line, cut at its end."""
    return shortened(" ".join(text.split()), most)
