"""Who has which pictures and files: they are kept by content, and to know a reference gives nobody the bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from bot.domain.address import Address, Person
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text

KEPT_S: Final = 14 * 86400.0
"""Seconds for which it is known who has handed in a file; ours, as long as files are kept (`KEEP_DAYS`)."""

# CROSS JOIN and the plus keep SQLite at reading the steps by the index of their pictures' first digits.
_HAS: Final = """WITH theirs AS (SELECT value ->> 0 AS platform, value ->> 1 AS id FROM json_each(?2))
SELECT EXISTS (SELECT 1 FROM handed_in WHERE content = ?1 AND (person_platform, person_id) IN theirs)
OR EXISTS (
    SELECT 1 FROM steps CROSS JOIN tasks ON tasks.id = steps.task
    WHERE steps.frame IS NOT NULL AND substr(steps.frame, 1, 12) = substr(?1, 1, 12) AND +steps.frame = ?1
    AND (person_platform, person_id) IN theirs)
OR EXISTS (SELECT 1 FROM tasks WHERE (person_platform, person_id) IN theirs AND frame = ?1)
OR EXISTS (
    SELECT 1 FROM tasks JOIN questions ON questions.task = tasks.id
    WHERE (person_platform, person_id) IN theirs AND ?1 IN (question ->> '$.frame', question ->> '$.before'))
OR EXISTS (
    SELECT 1 FROM console_messages
    WHERE owner = ?3 AND instr(content, ?1) AND (content ->> '$.picture' = ?1
        OR EXISTS (SELECT 1 FROM json_each(content, '$.files') WHERE value ->> '$.reference' = ?1)))
"""


class OwnFiles:
    """Knows by the tables of tasks, questions and messages what somebody was shown, and what they have handed in."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def handed_in(self, content: str, person: Person) -> None:
        """Keep that this person has handed in that file. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            now = self._clock()
            await transaction.fetch("DELETE FROM handed_in WHERE at < ?", (now - KEPT_S,))
            await transaction.fetch(
                "INSERT INTO handed_in (content, person_platform, person_id, at) VALUES (?1, ?2, ?3, ?4)"
                " ON CONFLICT DO UPDATE SET at = ?4",
                (content, person.platform, person.id, now),
            )

        await self._database.write(work)

    async def has(self, content: str, accounts: Collection[Person], home: Address) -> bool:
        """Whether a person with these accounts has handed it in, or was shown it: in a task of theirs, or in the chat
        of their own at `home`. Raises StoreError.
        """
        whose = json_text([[account.platform, account.id] for account in accounts])
        rows = await self._database.fetch(_HAS, (content, whose, home.chat))
        return bool(rows[0][0])
