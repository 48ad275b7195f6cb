"""Where each task's card is, and since when: an old message cannot be edited everywhere for ever."""

from __future__ import annotations

from dataclasses import dataclass

from bot.chats.address import MessageRef
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.texts import message_of, message_text


@dataclass(frozen=True, slots=True)
class CardRef:
    """The message that shows a task, and the Unix time at which it was made."""

    message: MessageRef
    made: float


class Cards:
    """The table of cards."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, task: str) -> CardRef | None:
        """The task's card, None while it has none."""
        rows = await self._database.fetch("SELECT message, made FROM cards WHERE task = ?", (int(task),))
        return CardRef(message_of(rows[0]["message"]), rows[0]["made"]) if rows else None

    async def put(self, task: str, message: MessageRef, made: float) -> None:
        """The card is this message from now on."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "INSERT INTO cards (task, message, made) VALUES (?, ?, ?)"
                " ON CONFLICT (task) DO UPDATE SET message = excluded.message, made = excluded.made",
                (int(task), message_text(message), made),
            )

        await self._database.write(work)
