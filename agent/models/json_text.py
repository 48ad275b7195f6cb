"""Finds the JSON object in what a model wrote around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

MOST_BEGINNINGS = 500
"""Opening braces that are tried; text with more of them is not an answer."""
THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

_decoder = json.JSONDecoder(strict=False)  # models put raw line breaks into strings


def objects_in(text: str) -> Iterator[dict[str, object]]:
    """JSON objects in the text that are not part of another one, the last first: drafts and examples come before.

    Braces inside strings, fences and prose around do no harm. A thought in `<think>` tags at the start does not count.
    """
    found: list[dict[str, object]] = []
    spoken = THOUGHT.sub("", text, count=1)
    start = spoken.find("{")
    for _ in range(MOST_BEGINNINGS):
        if start < 0:
            break
        try:
            value, end = _decoder.raw_decode(spoken, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found.append(value)
        start = spoken.find("{", end)
    yield from reversed(found)
