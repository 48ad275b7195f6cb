"""The table of who is signed in to the console: a restart signs nobody out."""

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
    """Somebody who is signed in. `digest` stands for the id, which is not kept; times are Unix seconds."""

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
    """What is known of sessions. Which of them still hold is for the console to say."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[Session, ...]:
        """Return all stored sessions in the order of their use."""
        return _SESSION.read_all(await self._database.fetch(_ALL))

    async def keep(self, session: Session) -> None:
        """Store a session. Raises StoreError."""
        await self._database.execute(_KEEP, _SESSION.values(session))

    async def touch(self, digest: str, used: float) -> None:
        """Keep when a session was used, unless it has ended meanwhile. Raises StoreError."""
        await self._database.execute(_TOUCH, {"digest": digest, "used": used})

    async def forget(self, digests: Collection[str]) -> None:
        """Forget sessions that have ended. Raises StoreError."""
        await self._database.execute(_FORGET, {"digests": json_text(sorted(digests))})
