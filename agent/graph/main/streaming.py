"""Streamed words, gathered into pieces that a chat can show without being flooded."""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.events import TaskEvent, Thinking
from agent.models.base import Delta

PIECE_LETTERS = 240
PIECE_SECONDS = 0.5
"""A piece is told when it is that long or that old, whichever comes first."""


class Thoughts:
    """Takes a model's deltas and tells Thinking events; `flush` tells what is left."""

    def __init__(
        self, node: str, emit: Callable[[TaskEvent], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._node = node
        self._emit = emit
        self._clock = clock
        self._text = self._reasoning = ""
        self._told = clock()

    def __call__(self, delta: Delta) -> None:
        """Take a piece."""
        self._text += delta.text
        self._reasoning += delta.reasoning
        long = len(self._text) + len(self._reasoning) >= PIECE_LETTERS
        if long or self._clock() - self._told >= PIECE_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Tell what was gathered, if anything."""
        if self._text or self._reasoning:
            self._emit(Thinking(node=self._node, text=self._text, reasoning=self._reasoning))
        self._text = self._reasoning = ""
        self._told = self._clock()
