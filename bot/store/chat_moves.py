"""Chats that have another id now, and everything that lived in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.domain.address import Address
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import address_of, address_text, json_text

_FORGET: Final = (
    "UPDATE tasks SET anchor = '' WHERE substr(COALESCE(place, origin), 1, ?2) = ?1",
    (
        "DELETE FROM cards WHERE task IN"
        " (SELECT id FROM tasks WHERE state <> 'ended' AND substr(COALESCE(place, origin), 1, ?2) = ?1)"
    ),
    (
        "UPDATE outbox SET state = 'pending', not_before = 0 WHERE kind = 'question' AND state = 'sent' AND subject IN"
        " (SELECT questions.id FROM questions JOIN tasks ON tasks.id = questions.task"
        " WHERE answer IS NULL AND expired = 0 AND substr(COALESCE(place, origin), 1, ?2) = ?1)"
    ),
    (
        "UPDATE questions SET message = NULL WHERE answer IS NULL AND expired = 0 AND task IN"
        " (SELECT id FROM tasks WHERE substr(COALESCE(place, origin), 1, ?2) = ?1)"
    ),
    "DELETE FROM missed WHERE done = 1 AND substr(place, 1, ?2) = ?1",
    "UPDATE missed SET listed = NULL, message = '' WHERE substr(place, 1, ?2) = ?1",
)
_REWRITE: Final = (
    (
        "SELECT DISTINCT origin FROM tasks WHERE substr(origin, 1, ?2) = ?1",
        "UPDATE tasks SET origin = ? WHERE origin = ?",
    ),
    ("SELECT DISTINCT place FROM tasks WHERE substr(place, 1, ?2) = ?1", "UPDATE tasks SET place = ? WHERE place = ?"),
    (
        "SELECT DISTINCT origin FROM schedules WHERE substr(origin, 1, ?2) = ?1",
        "UPDATE schedules SET origin = ? WHERE origin = ?",
    ),
    (
        "SELECT DISTINCT place FROM missed WHERE substr(place, 1, ?2) = ?1",
        "UPDATE missed SET place = ? WHERE place = ?",
    ),
)


class Moves:
    """The table of moved chats."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Mapping[tuple[str, str], str]:
        """(platform, old id) → new id."""
        rows = await self._database.fetch("SELECT platform, old, new FROM moved_chats")
        return {(row["platform"], row["old"]): row["new"] for row in rows}

    async def move(self, old: Address, new: str, *, now: float) -> bool:
        """What lives in the chat lives at its new id. False when that is known already.

        Messages do not move along: cards are made anew, and open questions are due once more.
        """

        async def work(transaction: Transaction) -> bool:
            if not await transaction.fetch(
                "INSERT INTO moved_chats (platform, old, new, moved) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
                " RETURNING 1",
                (old.platform, old.chat, new, now),
            ):
                return False
            beginning = _beginning(old)
            here = (beginning, len(beginning))
            for sql in _FORGET:
                await transaction.fetch(sql, here)
            for found, change in _REWRITE:
                for row in await transaction.fetch(found, here):
                    moved = address_text(replace(address_of(row[0]), chat=new))
                    await transaction.fetch(change, (moved, row[0]))
            return True

        return await self._database.write(work)


def _beginning(old: Address) -> str:
    """How the address of each place in that chat begins, as it is kept."""
    return json_text([old.platform, old.account, old.chat])[:-1] + ","
