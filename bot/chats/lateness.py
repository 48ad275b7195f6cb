"""Whether what people wrote arrives too late to be done without another look, the same on every platform."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from bot.domain.incoming import orders_work

STALE_SECONDS: Final = 300.0
"""What arrives so late (the service or the connection was away) is listed and not done; ours. Longer than a restart or
an update takes, shorter than people wait for a phone before they take it up themselves.
"""

_DOUBT_SECONDS: Final = 1.0
"""How exactly it is known when something was written: some platforms tell whole seconds."""


class Lateness:
    """Knows since when the process can have heard anything. `clock` gives Unix seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._began = clock()

    def is_late(self, written: float) -> bool:
        """Whether it is too old."""
        return self._clock() - written > STALE_SECONDS

    def is_stale(self, written: float, command: str | None) -> bool:
        """Whether a person has to decide about it. What was written before this process began may have been done by
        the one before, which was killed before it could tell the platform so. Only a task is known by its event.
        """
        return self.is_late(written) or (written + _DOUBT_SECONDS < self._began and not orders_work(command))
