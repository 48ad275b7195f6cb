"""Codes and passwords on their way to a phone. Implements `agent.ports.secrets.Secrets`."""

from __future__ import annotations

import time
from collections.abc import Callable

from bot.logs.redaction import REDACTION

LIFETIME_S = 900.0
"""Nothing that was not taken stays longer: the run that asked is gone by then."""


class MemorySecrets:
    """Keeps values in memory only, each until it is taken once or 15 minutes are over.

    `cover` is told of each, with seconds: so long it must not be read in any log.
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
        """Take a value, which can be had once under this id."""
        self._forget_old()
        self._values[secret] = (self._clock() + LIFETIME_S, value)
        self._cover(value, LIFETIME_S)

    def take(self, secret: str) -> str | None:
        """The value, removed from here; None when it is unknown, taken or too old."""
        self._forget_old()
        _, value = self._values.pop(secret, (0.0, None))
        if value is not None:
            # It is typed now, and what goes wrong with that is logged.
            self._cover(value, LIFETIME_S)
        return value

    def _forget_old(self) -> None:
        now = self._clock()
        for secret in [secret for secret, (until, _) in self._values.items() if until <= now]:
            del self._values[secret]
