"""One beat that wakes everybody who waits."""

from __future__ import annotations

import asyncio


class Wakeup:
    """Waiters take an event *before* they look, so that no beat falls between looking and waiting."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def next(self) -> asyncio.Event:
        """The event that the next beat sets."""
        return self._next

    def beat(self) -> None:
        """Wake all who wait."""
        beaten, self._next = self._next, asyncio.Event()
        beaten.set()
