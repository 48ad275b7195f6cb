"""JSON in what a model wrote: the object among other words, and texts that no file would take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeVar, cast

MOST_BEGINNINGS = 500
"""Opening braces that are tried; text with more of them is not an answer."""
THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

T = TypeVar("T")

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
            found.append(whole(value))
        except (ValueError, RecursionError):
            end = start + 1
        start = spoken.find("{", end)
    yield from reversed(found)


def whole_signs(text: str) -> str:
    """The text with halves of signs put together, or replaced where they stand alone: no file or database takes them.

    JSON may carry them, and an endpoint that cuts a stream between two of them does so without meaning harm.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole(value: T) -> T:
    """A JSON value with all its texts and names made whole. Raises RecursionError like the reading of JSON does."""
    made: object = value
    match value:
        case str():
            made = whole_signs(value)
        case list():
            made = [whole(item) for item in value]
        case dict():
            made = {whole_signs(name): whole(item) for name, item in value.items()}
    return cast("T", made)
