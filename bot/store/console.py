"""The console's messages. Implements `bot.domain.console_log.ConsoleLog`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from bot.domain.console_log import Author, Content, Entry
from bot.store.connection import Transaction, Value
from bot.store.database import Database

_LAST_ID = 2**63 - 1


class ConsoleMessages:
    """The table of what the console has shown, for one person. Every change of a row gives it the next revision."""

    def __init__(self, database: Database, clock: Callable[[], float], owner: str = "") -> None:
        self._database = database
        self._clock = clock
        self._owner = owner

    def of(self, owner: str) -> ConsoleMessages:
        """The messages of this person alone, "" for the operator's."""
        return ConsoleMessages(self._database, self._clock, owner)

    async def append(self, thread: str, author: Author, content: Content, *, nonce: str) -> Entry:
        """Add a message. The same nonce gives the entry that is there already, unchanged."""
        # Pages make nonces, so those of one person must not meet another's.
        own = f"{self._owner} {nonce}" if self._owner else nonce

        async def work(transaction: Transaction) -> Entry:
            rows = await transaction.fetch(
                "INSERT INTO console_messages (revision, thread, author, content, nonce, sent, owner)"
                " VALUES ((SELECT COALESCE(MAX(revision), 0) + 1 FROM console_messages), ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (nonce) DO NOTHING RETURNING *",
                (thread, author, content.model_dump_json(exclude_defaults=True), own, self._clock(), self._owner),
            )
            return _entry(rows or await transaction.fetch("SELECT * FROM console_messages WHERE nonce = ?", (own,)))

        return await self._database.write(work)

    async def replace(self, entry: int, content: Content) -> Entry:
        """Change a message in place. Raises KeyError when it is not there or was deleted."""
        return await self._change(
            "UPDATE console_messages SET revision = (SELECT COALESCE(MAX(revision), 0) + 1 FROM console_messages),"
            " content = ?, edited = ? WHERE id = ? AND deleted = 0 AND owner = ? RETURNING *",
            content.model_dump_json(exclude_defaults=True),
            self._clock(),
            entry,
            self._owner,
        )

    async def remove(self, entry: int) -> Entry:
        """Empty a message for good. Raises KeyError when it never was there."""
        return await self._change(
            "UPDATE console_messages SET revision = (SELECT COALESCE(MAX(revision), 0) + 1 FROM console_messages),"
            " content = '{}', edited = ?, deleted = 1 WHERE id = ? AND owner = ? RETURNING *",
            self._clock(),
            entry,
            self._owner,
        )

    async def changes(self, revision: int, limit: int) -> tuple[Entry, ...]:
        """The entries whose latest change is after `revision`, by revision, at most `limit`."""
        rows = await self._database.fetch(
            "SELECT * FROM console_messages WHERE owner = ? AND revision > ? ORDER BY revision LIMIT ?",
            (self._owner, min(revision, _LAST_ID), limit),
        )
        return tuple(_entry([row]) for row in rows)

    async def missed(self, revision: int) -> int:
        """How many entries have changed after `revision`."""
        rows = await self._database.fetch(
            "SELECT COUNT(*) FROM console_messages WHERE owner = ? AND revision > ?",
            (self._owner, min(revision, _LAST_ID)),
        )
        return int(rows[0][0])

    async def page(self, thread: str, *, before: int | None, limit: int) -> tuple[Entry, ...]:
        """The last `limit` messages of a thread that are not deleted (those before id `before`), oldest first."""
        rows = await self._database.fetch(
            "SELECT * FROM console_messages WHERE owner = ? AND thread = ? AND id < ? AND deleted = 0"
            " ORDER BY id DESC LIMIT ?",
            (self._owner, thread, _LAST_ID if before is None else min(before, _LAST_ID), limit),
        )
        return tuple(_entry([row]) for row in reversed(rows))

    async def revision(self) -> int:
        """The latest revision; 0 while nothing was ever shown."""
        rows = await self._database.fetch(
            "SELECT COALESCE(MAX(revision), 0) FROM console_messages WHERE owner = ?", (self._owner,)
        )
        return int(rows[0][0])

    async def _change(self, sql: str, *values: Value) -> Entry:
        async def work(transaction: Transaction) -> Entry:
            return _entry(await transaction.fetch(sql, values))

        return await self._database.write(work)


def _entry(rows: list[sqlite3.Row]) -> Entry:
    """The one row as an entry. Raises KeyError when there is none."""
    if not rows:
        raise KeyError("no such message")
    row = rows[0]
    return Entry(
        id=row["id"],
        revision=row["revision"],
        thread=row["thread"],
        author=row["author"],
        content=Content.model_validate_json(row["content"]),
        sent=row["sent"],
        edited=row["edited"],
        deleted=bool(row["deleted"]),
    )
