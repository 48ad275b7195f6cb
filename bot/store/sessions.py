"""The table of console sessions, so that people stay signed in over a restart."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, select, update

from bot.store.codec import Codec
from bot.store.connection import Database
from bot.store.engine import given, insert, is_listed
from bot.store.json_columns import json_text
from bot.store.tables.people import console_sessions


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser of the console. Times are Unix seconds.

    - `digest`: Hash of the session id, which itself is not stored.
    - `way`: How the session began: "token" (the start address of the console), "password", or "person" (a person's
      access token).
    - `address`: Network address of the browser.
    - `begun`: When the session began.
    - `used`: When it was last used.
    """

    digest: str
    way: str
    address: str
    begun: float
    used: float
    token: str = ""
    """The name of the token that it was begun with; "" for one of the operator."""


_SESSION: Final = Codec(Session, console_sessions)
_ALL: Final = select(console_sessions).order_by(console_sessions.c.used)
_KEEP: Final = insert(console_sessions, _SESSION.columns)
_TOUCH: Final = update(console_sessions).where(given(console_sessions.c.digest)).values(used=bindparam("used"))
_FORGET: Final = delete(console_sessions).where(is_listed(console_sessions.c.digest, "digests"))


class ConsoleSessions:
    """The table of console sessions. Whether a session is still valid is decided by the console."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[Session, ...]:
        """Return all stored sessions, the one that was unused the longest first."""
        return _SESSION.read_all(await self._database.fetch(_ALL))

    async def keep(self, session: Session) -> None:
        """Store a session. Raises StoreError."""
        await self._database.execute(_KEEP, _SESSION.values(session))

    async def touch(self, digest: str, used: float) -> None:
        """Store when a session was last used, unless it was deleted meanwhile. Raises StoreError."""
        await self._database.execute(_TOUCH, {"digest": digest, "used": used})

    async def forget(self, digests: Collection[str]) -> None:
        """Delete sessions that have ended. Raises StoreError."""
        await self._database.execute(_FORGET, {"digests": json_text(sorted(digests))})
