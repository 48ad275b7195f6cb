"""Android's event log, as far as the input dispatcher writes it: which window has the focus, and which gets inputs.

Source: AOSP frameworks/native/services/inputflinger/dispatcher/InputDispatcher.cpp (LOGTAG_INPUT_FOCUS,
LOGTAG_INPUT_INTERACTION). A window that gets one input after the other is written down once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime

MOST_LINES = 500
TICK = 0.001
"""Seconds between two readings of a clock that stands still: no two lines have the same time."""


class EventLog:
    """The log of one phone; `clock` is the phone's."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._last = 0.0
        self._focused = ""
        self._touched = ""
        self._lines: deque[str] = deque(maxlen=MOST_LINES)

    def now(self) -> float:
        """What time it is, in Unix seconds; later with each reading."""
        self._last = max(self._clock().timestamp(), self._last + TICK)
        return self._last

    def received(self, window: str) -> None:
        """A window with this number and name, which has the focus, got an input."""
        if window != self._focused:
            self._focused = window
            self._write("input_focus", f"[Focus entering {window} (server),reason=Window became focusable]")
        if window != self._touched:
            self._touched = window
            self._write("input_interaction", f"Interaction with: {window} (server), PointerEventDispatcher0 (server), ")

    def lines(self) -> tuple[str, ...]:
        """All lines, in the form of `logcat -v epoch`."""
        return tuple(self._lines)

    def _write(self, tag: str, text: str) -> None:
        self._lines.append(f"{self.now():>19.3f}  1432  1520 I {tag}: {text}")
