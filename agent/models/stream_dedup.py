"""Passes streamed pieces of an answer on, without repeating them when a request is retried."""

from __future__ import annotations

from collections.abc import Callable

from agent.models.base import Delta

Show = Callable[[Delta], None]


class ShownOnce:
    """Passes streamed pieces on to `on_delta`. If an attempt fails after its first piece, the pieces of later attempts
    are dropped.
    """

    def __init__(self, on_delta: Show | None) -> None:
        self._on_delta = on_delta
        self._shown = False

    def attempt(self) -> Show:
        """Return the function that must be called with the pieces of a new attempt."""
        return _nowhere if self._on_delta is None or self._shown else self._show

    def _show(self, delta: Delta) -> None:
        self._shown = True
        if self._on_delta is None:
            return
        try:
            self._on_delta(delta)
        except ValueError as error:
            # A ValueError while an answer is read means an unreadable answer; this one is not the endpoint's.
            raise RuntimeError("The watcher of streamed pieces failed.") from error


def _nowhere(_: Delta) -> None:
    return
