"""How often a wrong password may be tried."""

from __future__ import annotations

from collections.abc import Callable

WRONG_ALLOWED = 5
"""Wrong passwords from one address within WINDOW_S; then it waits."""
WRONG_OF_ALL = 50
"""From all addresses together: against many that try a few times each. Who is signed in stays so."""
WINDOW_S = 900.0


class Attempts:
    """Counts wrong passwords. `now` gives seconds that only grow."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._wrong: list[tuple[float, str]] = []

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0 when it may now."""
        self._forget()
        own = [at for at, tried in self._wrong if tried == address]
        waits = [
            times[-most] + WINDOW_S - self._now()
            for times, most in ((own, WRONG_ALLOWED), ([at for at, _ in self._wrong], WRONG_OF_ALL))
            if len(times) >= most
        ]
        return max(waits, default=0.0)

    def wrong(self, address: str) -> None:
        """A wrong one came from there."""
        self._wrong.append((self._now(), address))

    def right(self, address: str) -> None:
        """The right one came from there: what was mistyped before does not count."""
        self._wrong = [(at, tried) for at, tried in self._wrong if tried != address]

    def _forget(self) -> None:
        oldest = self._now() - WINDOW_S
        self._wrong = [(at, tried) for at, tried in self._wrong if at > oldest]
