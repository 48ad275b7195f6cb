"""Keeps codes and passwords until they are typed on a phone. Implements `agent.ports.stores.Secrets`."""

from __future__ import annotations

import time
from collections.abc import Callable

from bot.logs.lines import REDACTION

LIFETIME_S = 900.0
"""Seconds after which a value that was not taken is dropped: the run that asked is gone by then."""


class MemorySecrets:
    """Keeps codes and passwords in memory only. Each can be taken once, within 15 minutes.

    `cover` is called with each value, and the seconds for which logs must hide it.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, cover: Callable[[str, float], None] = REDACTION.cover
    ) -> None:
        self._clock = clock
        self._cover = cover
        self._values: dict[str, tuple[float, str]] = {}

    def __repr__(self) -> str:
        return f"<{len(self._values)} secrets>"

    def keep(self, secret: str, value: str) -> None:
        """Keep `value` under the id `secret` until it is taken, at most 15 minutes, and hide it in logs."""
        self._forget_old()
        self._values[secret] = (self._clock() + LIFETIME_S, value)
        self._cover(value, LIFETIME_S)

    def take(self, secret: str) -> str | None:
        """Remove and return the value with this id; None if it is unknown, already taken or too old."""
        self._forget_old()
        _, value = self._values.pop(secret, (0.0, None))
        if value is not None:
            # It is typed now, and a failure to type it is logged.
            self._cover(value, LIFETIME_S)
        return value

    def _forget_old(self) -> None:
        now = self._clock()
        for secret in [secret for secret, (until, _) in self._values.items() if until <= now]:
            del self._values[secret]
