"""Collects streamed words into pieces that a chat can show without being flooded."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json

from agent.events import TaskEvent, Thinking
from agent.models.base import Delta

PIECE_LETTERS = 240
PIECE_SECONDS = 0.5
"""A piece is emitted when it has `PIECE_LETTERS` characters or is this many seconds old, whichever comes first."""
MOST_LETTERS = 4_000
"""The maximum characters of one piece, even if everything arrives at once."""


class Thoughts:
    """Collects a model's deltas and emits them as Thinking events in larger pieces. Call `flush` at the end.

    `is_answer` means that the text is the answer to the whole task.
    """

    def __init__(
        self,
        node: str,
        emit: Callable[[TaskEvent], None],
        *,
        is_answer: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node = node
        self._emit = emit
        self._is_answer = is_answer
        self._clock = clock
        self._text = self._reasoning = ""
        self._flushed_at = clock()

    def __call__(self, delta: Delta) -> None:
        """Accept the next delta, and emit what was collected if it is long or old enough."""
        self._text += delta.text
        self._reasoning += delta.reasoning
        long = len(self._text) + len(self._reasoning) >= PIECE_LETTERS
        if long or self._clock() - self._flushed_at >= PIECE_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Emit what was collected, if anything."""
        while self._text or self._reasoning:
            text, reasoning = self._text[:MOST_LETTERS], self._reasoning[:MOST_LETTERS]
            self._emit(Thinking(node=self._node, text=text, reasoning=reasoning, is_answer=self._is_answer))
            self._text, self._reasoning = self._text[MOST_LETTERS:], self._reasoning[MOST_LETTERS:]
        self._flushed_at = self._clock()


class ProseOnly:
    """Passes a model's reasoning on to a stream, and its text only if it is prose, because nobody wants to read JSON as
    it is written.
    """

    def __init__(self, stream: Thoughts) -> None:
        self._stream = stream
        self._data: bool | None = None

    def __call__(self, delta: Delta) -> None:
        """Accept the next delta."""
        if self._data is None and delta.text.strip():
            self._data = delta.text.lstrip()[0] in "{[`<"
        self._stream(Delta(reasoning=delta.reasoning) if self._data else delta)


class FieldOnly:
    """Passes a model's reasoning on to a stream and, of a JSON answer, the text of the field `name`, once `fit` returns
    true for the fields read so far.
    """

    def __init__(self, stream: Thoughts, name: str, fit: Callable[[Mapping[str, Any]], bool]) -> None:
        self._stream = stream
        self._name = name
        self._fit = fit
        self._read = ""
        self._emitted = ""

    def __call__(self, delta: Delta) -> None:
        """Accept the next delta."""
        self._read += delta.text
        try:
            found = from_json(self._read, allow_partial="trailing-strings")
        except ValueError:
            found = {}
        text = found.get(self._name) if isinstance(found, dict) and self._fit(found) else None
        more = text.removeprefix(self._emitted) if isinstance(text, str) and text.startswith(self._emitted) else ""
        self._emitted += more
        self._stream(Delta(more, delta.reasoning))
