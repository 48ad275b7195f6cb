"""Which accounts belong to one person."""

from __future__ import annotations

from collections import defaultdict

from bot.chats.address import Person
from bot.store.connection import Source, Transaction
from bot.store.database import Database


class Links:
    """The table of linked accounts. A person has one account on each platform."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, source: Source | None = None) -> tuple[tuple[Person, ...], ...]:
        """The accounts of each person who has several. With `source`, as an open transaction sees it."""
        people: dict[int, list[Person]] = defaultdict(list)
        for row in await (source or self._database).fetch("SELECT * FROM links ORDER BY person, platform"):
            people[row["person"]].append(Person(row["platform"], row["account"], row["name"]))
        return tuple(tuple(accounts) for accounts in people.values())

    async def join(self, transaction: Transaction, known: Person, other: Person) -> bool:
        """From now on the other account belongs to the person of the known one. False when one of the two has an
        account on the other's platform already; then nothing changes.
        """
        people = await self.all(transaction)
        of_other = next((accounts for accounts in people if _among(other, accounts)), ())
        accounts = next((accounts for accounts in people if _among(known, accounts)), (known,))
        if of_other or any(account.platform == other.platform for account in accounts):
            return False
        await transaction.fetch(
            "INSERT INTO links (platform, account, name, person)"
            " SELECT ?, ?, ?, COALESCE(MAX(person), 0) + 1 FROM links WHERE true ON CONFLICT DO NOTHING",
            (known.platform, known.id, known.name),
        )
        await transaction.fetch(
            "INSERT INTO links (platform, account, name, person)"
            " SELECT ?, ?, ?, person FROM links WHERE platform = ? AND account = ?",
            (other.platform, other.id, other.name, known.platform, known.id),
        )
        return True

    async def leave(self, transaction: Transaction, platform: str, account: str) -> tuple[Person, ...]:
        """The account stands for itself again. Returns those that it was linked with."""
        people = await self.all(transaction)
        accounts = next((found for found in people if _among(Person(platform, account), found)), ())
        await transaction.fetch("DELETE FROM links WHERE platform = ? AND account = ?", (platform, account))
        others = tuple(one for one in accounts if (one.platform, one.id) != (platform, account))
        if len(others) == 1:
            await transaction.fetch(
                "DELETE FROM links WHERE platform = ? AND account = ?", (others[0].platform, others[0].id)
            )
        return others


def _among(person: Person, accounts: tuple[Person, ...]) -> bool:
    return any((person.platform, person.id) == (account.platform, account.id) for account in accounts)
