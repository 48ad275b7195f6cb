"""Keeps track of who is signed in. Sessions survive restarts, but what is stored about them cannot be used to sign in.

A session's id is 256 random bits in a cookie. What is stored is an HMAC with the id as its key, over the secret of the
way in which the session was opened. So the stored data lets nobody in, a new password invalidates old sessions, and
nothing on the disk helps to guess the password.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Protocol

from bot.store.console import Session
from bot.store.errors import StoreError
from bot.web.wakeup import Wakeup

logger = logging.getLogger(__name__)

ID_BYTES = 32
HOUR_S = 3600.0
DAY_S = 86400.0
MOST = 100
"""Sessions at once; the least recently used one is replaced."""
USE_KEPT_EVERY_S = 600.0
"""Seconds between two writes of a session's last use, to avoid one per request."""


class Way(StrEnum):
    """How a session was opened."""

    TOKEN = "token"  # noqa: S105 - the name of a way in
    """With the address that the service printed, only on its own machine."""
    PASSWORD = "password"  # noqa: S105 - the name of a way in
    PERSON = "person"
    """With a token of the person's own."""


IDLE_S: Mapping[Way, float] = {Way.TOKEN: 7 * DAY_S, Way.PASSWORD: 12 * HOUR_S, Way.PERSON: 12 * HOUR_S}
"""Seconds without a request after which a new sign-in is required."""
LIFETIME_S: Mapping[Way, float] = {Way.TOKEN: 30 * DAY_S, Way.PASSWORD: 7 * DAY_S, Way.PERSON: 7 * DAY_S}
"""Seconds after which a new sign-in is required in any case."""


class SessionStore(Protocol):
    """The storage of sessions, such as a database table."""

    async def all(self) -> Sequence[Session]:
        """Return all stored sessions."""

    async def keep(self, session: Session) -> None:
        """Store a session. Raises StoreError."""

    async def touch(self, digest: str, used: float) -> None:
        """Store when the session with this digest was last used (`used`, in Unix seconds), unless it has ended. Raises
        StoreError.
        """

    async def forget(self, digests: Collection[str]) -> None:
        """Delete the sessions with these digests. Raises StoreError."""


class Sessions:
    """The sessions of signed-in browsers, identified by the digests of their ids.

    - `now` returns Unix seconds.
    - `marks` are the secrets, one for each way to sign in, that sessions depend on.
    - `holds_token` returns whether the access token with this name is valid and was made before the given time.
    """

    def __init__(
        self,
        store: SessionStore,
        now: Callable[[], float],
        marks: Mapping[Way, bytes],
        holds_token: Callable[[str, float], bool] = lambda _name, _begun: False,
    ) -> None:
        self._store = store
        self._now = now
        self._marks = marks
        self._holds_token = holds_token
        self._sessions: dict[str, Session] = {}
        self._last_stored: dict[str, float] = {}
        """When each session's last use was last stored."""
        self.ended = Wakeup()
        """Is notified when sessions have ended."""

    async def load(self) -> None:
        """Load the stored sessions, at the service's start."""
        self._sessions = {session.digest: session for session in await self._store.all()}

    async def begin(self, way: Way, address: str, token: str = "") -> str:
        """Begin a session for a browser at this network address. Deletes expired sessions and, if there are too many
        (`MOST`), the least recently used one.

        `token` is the name of the person's token, "" for the operator. Returns the session's id, which only the browser
        may have.
        """
        gone = self._sessions.keys() - {one.digest for one in self.listed()[: MOST - 1]}
        session = secrets.token_urlsafe(ID_BYTES)
        began = Session(self._digest(session, way), way, address, self._now(), self._now(), token)
        for digest in gone:
            del self._sessions[digest]
            self._last_stored.pop(digest, None)
        self._sessions[began.digest] = began
        self._last_stored[began.digest] = began.used
        try:
            await self._store.forget(gone)
            await self._store.keep(began)
        except StoreError as error:
            logger.warning("A session of the console will not survive a restart: %s", error)
        return session

    async def use(self, session: str, way: Way) -> str:
        """Return the digest of the session with this id, "" if it is not valid. This counts as the session's
        last use.
        """
        digest = self._digest(session, way) if session and way in self._marks else ""
        if not self.is_valid(digest):
            return ""
        now = self._now()
        self._sessions[digest] = replace(self._sessions[digest], used=now)
        if abs(now - self._last_stored.get(digest, 0.0)) >= USE_KEPT_EVERY_S:
            self._last_stored[digest] = now
            try:
                await self._store.touch(digest, now)
            except StoreError as error:
                logger.warning("The last use of a console session could not be stored: %s", error)
        return digest

    def is_valid(self, digest: str) -> bool:
        """Return whether the session with this digest is valid, without counting as a use."""
        session = self._sessions.get(digest)
        return session is not None and self._is_unexpired(session)

    def token_of(self, digest: str) -> str:
        """Return the name of the token with which the session with this digest was opened; "" for a session of the
        operator, or if there is no such session.
        """
        session = self._sessions.get(digest)
        return "" if session is None else session.token

    def listed(self) -> tuple[Session, ...]:
        """Return the valid sessions, the most recently used first."""
        lives = (session for session in self._sessions.values() if self._is_unexpired(session))
        return tuple(sorted(lives, key=lambda session: session.used, reverse=True))

    async def end(self, digests: Collection[str]) -> None:
        """End the sessions with these digests. Raises StoreError if that cannot be stored: they would then be valid
        again after the next start.
        """
        for digest in digests:
            self._sessions.pop(digest, None)
            self._last_stored.pop(digest, None)
        self.ended.notify()
        await self._store.forget(digests)

    async def end_all(self, *, but: str = "", of: str = "") -> int:
        """End all sessions, or (with `of`) those opened with the token of that name. The session with the digest `but`
        is kept. Returns how many ended. Raises StoreError.
        """
        meant = {one.digest for one in self._sessions.values() if one.digest != but and (not of or one.token == of)}
        ended = [one for one in self.listed() if one.digest in meant]
        await self.end(meant)
        return len(ended)

    def _is_unexpired(self, session: Session) -> bool:
        """Whether the session is valid. A clock set far back ends sessions too, or they could last for years."""
        way = next((way for way in self._marks if way == session.way), None)
        if way is None or (session.token and not self._holds_token(session.token, session.begun)):
            return False
        now = self._now()
        return abs(now - session.used) < IDLE_S[way] and abs(now - session.begun) < LIFETIME_S[way]

    def _digest(self, session: str, way: Way) -> str:
        key = session.encode("utf-8", "surrogatepass")
        return hmac.new(key, way.encode() + b"\0" + self._marks[way], hashlib.sha256).hexdigest()
