"""Finds JSON objects in a model's text, and repairs text that cannot be encoded as UTF-8."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeVar, cast

MOST_BEGINNINGS = 500
"""How many opening braces are tried as the beginning of an object; a text with more is not an answer."""
THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

T = TypeVar("T")

_decoder = json.JSONDecoder(strict=False)  # models put raw line breaks into strings


def objects_in(text: str) -> Iterator[dict[str, object]]:
    """Yield the outermost JSON objects in a text, the last first, because drafts and examples come before the answer.

    Braces inside strings, code fences and surrounding prose are handled. A thought in `<think>` tags at the start is
    skipped.
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
    """Return the text with split surrogate pairs joined and single halves replaced, because no file or database accepts
    these.

    JSON may contain them, and an endpoint may split a pair when it cuts a stream into pieces.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def whole(value: T) -> T:
    """Return a JSON value with `whole_signs` applied to all its texts and names. Raises RecursionError if it is nested
    too deeply.
    """
    made: object = value
    match value:
        case str():
            made = whole_signs(value)
        case list():
            made = [whole(item) for item in value]
        case dict():
            made = {whole_signs(name): whole(item) for name, item in value.items()}
    return cast("T", made)
