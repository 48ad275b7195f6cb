"""What waits until a certain time, moved when the clock was set: everybody has as long as they were told."""

from __future__ import annotations

from bot.store.connection import Transaction
from bot.store.database import Database


class Deadlines:
    """Open questions, and interrupted tasks that wait for their Resume."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def move(self, seconds: float) -> None:
        """The clock was set by so many seconds."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "UPDATE questions SET asked = asked + ?1, expires = expires + ?1 WHERE answer IS NULL AND expired = 0",
                (seconds,),
            )
            await transaction.fetch("UPDATE tasks SET changed = changed + ? WHERE state = 'interrupted'", (seconds,))

        await self._database.write(work)
