"""Clocks: one that nobody can set, and a watch over the one that somebody can."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

JUMP_S: Final = 10.0
"""A clock that is off by less is drawn near little by little (adjtime(3)), and nobody waits wrongly for long."""


def seconds_since_boot() -> float:
    """Seconds that have passed, those in which the machine slept too, whatever the clock on the wall is set to."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class SteadyClock:
    """Unix seconds as they were at its making, and what has passed since: it never jumps."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = seconds_since_boot) -> None:
        self._steady = steady
        self._ahead = wall() - steady()

    def __call__(self) -> float:
        """Unix seconds."""
        return self._steady() + self._ahead


class ClockWatch:
    """Notices that the clock on the wall was set: by a person, or by a time server after a start without one."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = seconds_since_boot) -> None:
        self._wall = wall
        self._steady = steady
        self._ahead = wall() - steady()

    def jumped(self) -> float:
        """By how many seconds it was set since this was last asked; below 0 for back, 0 for not at all."""
        ahead = self._wall() - self._steady()
        jump, self._ahead = ahead - self._ahead, ahead
        return jump if abs(jump) >= JUMP_S else 0.0
