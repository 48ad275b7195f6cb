"""Clocks: one that is not affected when the system clock is set, a detector of such changes, and a clock that can
wait.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

JUMP_S: Final = 10.0
"""Seconds. Smaller changes are ignored: time servers correct small errors gradually (adjtime(3))."""


def seconds_since_boot() -> float:
    """Return the seconds since boot, on Linux including those in which the machine was asleep. Setting the system clock
    does not affect it.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class SteadyClock:
    """A clock in Unix seconds that starts at the system time of its creation and never jumps, even if the system clock
    is set.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = seconds_since_boot) -> None:
        self._steady = steady
        self._ahead = wall() - steady()

    def __call__(self) -> float:
        """Return the time in Unix seconds."""
        return self._steady() + self._ahead


class ClockWatch:
    """Detects that the system clock was set, by a person or by a time server."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = seconds_since_boot) -> None:
        self._wall = wall
        self._steady = steady
        self._ahead = wall() - steady()

    def jumped(self) -> float:
        """Return by how many seconds the system clock was set since the last call: negative for back, 0 if it was not
        set or by less than `JUMP_S`.
        """
        ahead = self._wall() - self._steady()
        jump, self._ahead = ahead - self._ahead, ahead
        return jump if abs(jump) >= JUMP_S else 0.0


@dataclass(frozen=True, slots=True)
class WaitingClock:
    """A clock that can also wait: `now` returns Unix seconds, `sleep` waits for a number of seconds."""

    now: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]

    async def rest(self, news: asyncio.Event, seconds: float | None) -> None:
        """Wait until the event is set, but at most this many seconds (None: without limit)."""
        if seconds is None:
            await news.wait()
            return
        waits: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(news.wait()),
            asyncio.ensure_future(self.sleep(max(0.0, seconds))),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
