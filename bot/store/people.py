"""What admins have given to people: rights and tiers, and which accounts belong to one person."""

from __future__ import annotations

from collections import defaultdict

from bot.domain.address import Person
from bot.domain.right import Grant, Right, TierGift
from bot.store.connection import Source, Transaction
from bot.store.database import Database


class Grants:
    """The table of grants: rights by person or role, and phone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, source: Source | None = None) -> tuple[Grant, ...]:
        """Everything that was given. With `source`, as an open transaction sees it."""
        rows = await (source or self._database).fetch(
            "SELECT * FROM grants ORDER BY platform, guild, subject, phone, may"
        )
        return tuple(
            Grant(row["platform"], row["subject"], Right(row["may"]), guild=row["guild"], phone=row["phone"])
            for row in rows
        )

    async def give(self, transaction: Transaction, grant: Grant) -> None:
        """Keep a right in the place of those that were given to the same for the same phone; to approve and to operate
        stand beside each other.
        """
        beside = {Right.APPROVE, Right.OPERATE}
        stays = (beside - {grant.right}).pop() if grant.right in beside else ""
        await transaction.fetch(
            "DELETE FROM grants WHERE platform = ? AND guild = ? AND subject = ? AND phone = ? AND may <> ?",
            (grant.platform, grant.guild, grant.id, grant.phone, stays),
        )
        await transaction.fetch(
            "INSERT INTO grants (platform, guild, subject, phone, may) VALUES (?, ?, ?, ?, ?)",
            (grant.platform, grant.guild, grant.id, grant.phone, grant.right.value),
        )

    async def take(self, transaction: Transaction, grant: Grant) -> None:
        """Forget a right."""
        await transaction.fetch(
            "DELETE FROM grants WHERE platform = ? AND guild = ? AND subject = ? AND phone = ? AND may = ?",
            (grant.platform, grant.guild, grant.id, grant.phone, grant.right.value),
        )


class Tiers:
    """The tables of tiers: one for each person or role, one for each task that has any."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[TierGift, ...]:
        """Everything that was given."""
        rows = await self._database.fetch("SELECT * FROM person_tiers ORDER BY platform, guild, subject")
        return tuple(TierGift(row["platform"], row["subject"], row["tier"], guild=row["guild"]) for row in rows)

    async def give(self, transaction: Transaction, gift: TierGift) -> None:
        """Keep a tier in the place of the one that the same had."""
        await transaction.fetch(
            "INSERT INTO person_tiers (platform, guild, subject, tier) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET tier = excluded.tier",
            (gift.platform, gift.guild, gift.id, gift.tier),
        )

    async def take(self, transaction: Transaction, platform: str, guild: str, subject: str) -> str:
        """Forget whoever's tier; returns its name, "" when there was none."""
        rows = await transaction.fetch(
            "DELETE FROM person_tiers WHERE platform = ? AND guild = ? AND subject = ? RETURNING tier",
            (platform, guild, subject),
        )
        return str(rows[0]["tier"]) if rows else ""

    async def accepted_with(self, transaction: Transaction, task: str, tier: str) -> None:
        """The task was accepted within this tier."""
        await transaction.fetch("INSERT INTO task_tiers (task, tier) VALUES (?, ?)", (int(task), tier))

    async def now_with(self, task: str, tier: str) -> None:
        """The task (or what it is a part of) is within this tier from now on; "" for none. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "DELETE FROM task_tiers WHERE task = (SELECT COALESCE(parent, id) FROM tasks WHERE id = ?)",
                (int(task),),
            )
            if tier:
                await transaction.fetch(
                    "INSERT INTO task_tiers (task, tier) SELECT COALESCE(parent, id), ? FROM tasks WHERE id = ?",
                    (tier, int(task)),
                )

        await self._database.write(work)

    async def of_task(self, task: str, source: Source | None = None) -> str:
        """The tier within which the task (or what it is a part of) was accepted, "" when nothing limited it."""
        rows = await (source or self._database).fetch(
            "SELECT tier FROM task_tiers WHERE task = (SELECT COALESCE(parent, id) FROM tasks WHERE id = ?)",
            (int(task),),
        )
        return str(rows[0]["tier"]) if rows else ""


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
