"""How often one chat may hear from the bot: sends and edits share one budget."""

from __future__ import annotations

from collections.abc import Callable

from bot.chats.base import Capabilities

LOUD_INTERVAL = 1.0
"""Seconds between two messages that notify: about what chats allow in one conversation (Telegram: 1 a second)."""


class Pace:
    """The budget of one conversation. A flood answer means silence, for everything."""

    def __init__(self, capabilities: Capabilities, clock: Callable[[], float], *, group: bool) -> None:
        self._interval = capabilities.edit_interval_group if group else capabilities.edit_interval
        self._clock = clock
        self._last = float("-inf")
        self._silent_until = float("-inf")

    def spent(self) -> None:
        """Something was sent or edited."""
        self._last = self._clock()

    def silence(self, seconds: float) -> float:
        """The platform asked for silence; returns until when."""
        self._silent_until = max(self._silent_until, self._clock() + seconds)
        return self._silent_until

    def delay(self, *, loud: bool) -> float:
        """Seconds until the next message that notifies (`loud`) or the next silent one may go; 0 for now."""
        interval = min(LOUD_INTERVAL, self._interval) if loud else self._interval
        return max(0.0, self._silent_until - self._clock(), self._last + interval - self._clock())
