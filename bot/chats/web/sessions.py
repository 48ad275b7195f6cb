"""Who is signed in: kept in memory, as hashes. A restart signs everybody out."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass

ID_BYTES = 32
IDLE_S = 12 * 3600.0
"""Seconds without a request after which one has to sign in again."""
LIFETIME_S = 7 * 86400.0
"""Seconds after which one has to sign in again whatever happened."""
MOST = 100
"""Sessions at once; the one that was used least lately makes room."""


@dataclass(slots=True)
class _Session:
    begun: float
    used: float


class Sessions:
    """Sessions by the hash of their id. `now` gives seconds that only grow."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._sessions: dict[str, _Session] = {}

    def begin(self) -> str:
        """A new session; its id is for the browser alone."""
        self._forget()
        if len(self._sessions) >= MOST:
            del self._sessions[min(self._sessions, key=lambda digest: self._sessions[digest].used)]
        session = secrets.token_urlsafe(ID_BYTES)
        self._sessions[_digest(session)] = _Session(self._now(), self._now())
        return session

    def use(self, session: str) -> bool:
        """Whether it holds; that it was used counts."""
        if not self.holds(session):
            return False
        self._sessions[_digest(session)].used = self._now()
        return True

    def holds(self, session: str) -> bool:
        """Whether it holds, without using it."""
        self._forget()
        return _digest(session) in self._sessions

    def end(self, session: str) -> None:
        """Sign out."""
        self._sessions.pop(_digest(session), None)

    def _forget(self) -> None:
        now = self._now()
        self._sessions = {
            digest: session
            for digest, session in self._sessions.items()
            if now - session.used < IDLE_S and now - session.begun < LIFETIME_S
        }


def _digest(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
