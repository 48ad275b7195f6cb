"""The tables of the web console: its sessions, so that people stay signed in over a restart, and the messages that it
shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, func, select, update

from bot.domain.console_log import Author, Content, Entry
from bot.store.codec import Codec, json_text
from bot.store.database import Database, Parameters, Statement, TableAccess, Transaction, given, insert, is_listed
from bot.store.tables.metadata import Number
from bot.store.tables.people import console_messages as messages
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


class ConsoleSessions(TableAccess):
    """The table of console sessions. Whether a session is still valid is decided by the console."""

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


_LAST_ID = 2**63 - 1
_ENTRY: Final = Codec(Entry, messages, lean={"content"})
_IS_OWN: Final = given(messages.c.owner)
_NEXT: Final = (
    select(func.coalesce(func.max(messages.c.revision), 0) + 1).select_from(messages).correlate(None).scalar_subquery()
)
_ADD: Final = (
    insert(messages, ("thread", "author", "content", "nonce", "sent", "owner"))
    .values(revision=_NEXT)
    .on_conflict_do_nothing(index_elements=[messages.c.nonce])
    .returning(messages)
)
_WITH_NONCE: Final = select(messages).where(given(messages.c.nonce))
_CHANGE: Final = (
    update(messages)
    .where(given(messages.c.id), _IS_OWN)
    .values(revision=_NEXT, content=bindparam("content"), edited=bindparam("edited"))
    .returning(messages)
)
_REPLACE: Final = _CHANGE.where(~messages.c.deleted)
_REMOVE: Final = _CHANGE.values(deleted=True)
_AFTER: Final = (_IS_OWN, messages.c.revision > bindparam("after"))
_CHANGES: Final = select(messages).where(*_AFTER).order_by(messages.c.revision).limit(bindparam("limit", type_=Number))
_MISSED: Final = select(func.count()).select_from(messages).where(*_AFTER)
_PAGE: Final = (
    select(messages)
    .where(_IS_OWN, given(messages.c.thread), messages.c.id < bindparam("before"), ~messages.c.deleted)
    .order_by(messages.c.id.desc())
    .limit(bindparam("limit", type_=Number))
)
_REVISION: Final = select(func.coalesce(func.max(messages.c.revision), 0)).where(_IS_OWN)


class ConsoleMessages:
    """The table of console messages, as seen by one person. Every change of a message gives it the next revision
    number.
    """

    def __init__(self, database: Database, clock: Callable[[], float], owner: str = "") -> None:
        self._database = database
        self._clock = clock
        self._owner = owner

    def of(self, owner: str) -> ConsoleMessages:
        """Return the same table for another person; "" is the operator."""
        return ConsoleMessages(self._database, self._clock, owner)

    async def append(self, thread: str, author: Author, content: Content, *, nonce: str) -> Entry:
        """Add a message and return it. If this person has a message with the same nonce, return that one unchanged."""
        # Pages make nonces, so those of one person must not meet another's.
        own = f"{self._owner} {nonce}" if self._owner else nonce

        values: Parameters = {
            "thread": thread,
            "author": author,
            "content": content.model_dump_json(exclude_defaults=True),
            "nonce": own,
            "sent": self._clock(),
            "owner": self._owner,
        }

        async def work(transaction: Transaction) -> Entry:
            rows = await transaction.fetch(_ADD, values)
            return _ENTRY.read((rows or await transaction.fetch(_WITH_NONCE, values))[0])

        return await self._database.write(work)

    async def replace(self, entry: int, content: Content) -> Entry:
        """Replace a message's content. Raises KeyError if there is no such message or it was deleted."""
        return await self._change(_REPLACE, entry, content)

    async def remove(self, entry: int) -> Entry:
        """Empty a message and mark it as deleted, for good. Raises KeyError if there is no such message."""
        return await self._change(_REMOVE, entry, Content())

    async def changes(self, revision: int, limit: int) -> tuple[Entry, ...]:
        """Return at most `limit` entries whose last change is later than `revision`, in the order of their
        revisions.
        """
        values: Parameters = {"owner": self._owner, "after": min(revision, _LAST_ID), "limit": limit}
        return _ENTRY.read_all(await self._database.fetch(_CHANGES, values))

    async def missed(self, revision: int) -> int:
        """Return how many entries have changed after `revision`."""
        values: Parameters = {"owner": self._owner, "after": min(revision, _LAST_ID)}
        return int((await self._database.fetch(_MISSED, values))[0][0])

    async def page(self, thread: str, *, before: int | None, limit: int) -> tuple[Entry, ...]:
        """Return the last `limit` messages of a thread that are not deleted, oldest first; with `before`, only those
        with a smaller id.
        """
        last = _LAST_ID if before is None else min(before, _LAST_ID)
        values: Parameters = {"owner": self._owner, "thread": thread, "before": last, "limit": limit}
        return _ENTRY.read_all(await self._database.fetch(_PAGE, values))[::-1]

    async def revision(self) -> int:
        """Return the latest revision number; 0 if there are no messages yet."""
        return int((await self._database.fetch(_REVISION, {"owner": self._owner}))[0][0])

    async def _change(self, statement: Statement, entry: int, content: Content) -> Entry:
        values: Parameters = {
            "id": entry,
            "owner": self._owner,
            "content": content.model_dump_json(exclude_defaults=True),
            "edited": self._clock(),
        }
        rows = await self._database.execute(statement, values)
        if not rows:
            raise KeyError("no such message")
        return _ENTRY.read(rows[0])
