"""The tables of what admins have assigned to people: rights, tiers (daily quotas), which accounts belong to one person,
and access tokens, of which only a hash is stored.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from sqlalchemy import bindparam, delete, func, select, update

from bot.domain.address import Person
from bot.domain.right import Grant, Right, TierGift, Token
from bot.store.codec import Codec
from bot.store.database import Parameters, Source, TableAccess, Transaction, given, in_turn, insert, upsert
from bot.store.tables.people import grants, links, person_tiers, tokens
from bot.store.tables.tasks import task_tiers, tasks

GRANT: Final = Codec(Grant, grants)
GIFT: Final = Codec(TierGift, person_tiers)
LINKED: Final = Codec(Person, links)

_GRANTS: Final = select(grants).order_by(*grants.primary_key)
_WHOSE: Final = (given(grants.c.platform), given(grants.c.guild), given(grants.c.id), given(grants.c.phone))
_GRANT: Final = insert(grants, GRANT.columns)
_TAKE_OTHERS: Final = delete(grants).where(*_WHOSE, grants.c.right != bindparam("stays"))
_TAKE: Final = delete(grants).where(*_WHOSE, given(grants.c.right))

_TIERS: Final = select(person_tiers).order_by(*person_tiers.primary_key)
_GIVE_TIER: Final = upsert(person_tiers, GIFT.columns)
_TAKE_TIER: Final = (
    delete(person_tiers)
    .where(given(person_tiers.c.platform), given(person_tiers.c.guild), given(person_tiers.c.id))
    .returning(person_tiers.c.tier)
)
_ACCEPT: Final = insert(task_tiers, ("task", "tier"))
_WHOLE: Final = select(func.coalesce(tasks.c.parent, tasks.c.id)).where(tasks.c.id == bindparam("task"))
_IS_OF_WHOLE: Final = task_tiers.c.task == _WHOLE.scalar_subquery()
_FORGET_TIER: Final = delete(task_tiers).where(_IS_OF_WHOLE)
_TIER_OF: Final = select(task_tiers.c.tier).where(_IS_OF_WHOLE)
_NOW_WITH: Final = insert(task_tiers, ()).from_select(
    ("task", "tier"), _WHOLE.add_columns(bindparam("tier", type_=task_tiers.c.tier.type))
)

_LINKS: Final = select(links).order_by(links.c.person, links.c.platform)
_PERSON_OF: Final = select(links.c.person).where(given(links.c.platform), given(links.c.id))
_LINK: Final = insert(links, links.c.keys())
_NEXT: Final = select(func.coalesce(func.max(links.c.person), 0) + 1)
_UNLINK: Final = delete(links).where(given(links.c.platform), given(links.c.id))


class Grants(TableAccess):
    """The table of grants: rights given to persons or roles, for one phone or for all."""

    async def all(self, source: Source | None = None) -> tuple[Grant, ...]:
        """Return all grants. With `source`, as the open transaction sees them."""
        return GRANT.read_all(await (source or self._database).fetch(_GRANTS))

    async def give(self, transaction: Transaction, grant: Grant) -> None:
        """Store a right, replacing the other rights that the same person or role has for the same phone.

        Only the rights to approve and to operate can exist together.
        """
        beside = {Right.APPROVE, Right.OPERATE}
        stays = (beside - {grant.right}).pop() if grant.right in beside else ""
        values: Parameters = GRANT.values(grant)
        await transaction.fetch(_TAKE_OTHERS, {**values, "stays": stays})
        await transaction.fetch(_GRANT, values)

    async def take(self, transaction: Transaction, grant: Grant) -> None:
        """Delete this right of the person or role for the phone."""
        await transaction.fetch(_TAKE, GRANT.values(grant))


class Tiers(TableAccess):
    """The tables of tiers (named daily quotas): one tier for each person or role, and one for each task that was
    limited by one.
    """

    async def all(self) -> tuple[TierGift, ...]:
        """Return the tiers of all persons and roles that have one."""
        return GIFT.read_all(await self._database.fetch(_TIERS))

    async def give(self, transaction: Transaction, gift: TierGift) -> None:
        """Store the tier of a person or role, replacing the one that they had."""
        await transaction.fetch(_GIVE_TIER, GIFT.values(gift))

    async def take(self, transaction: Transaction, platform: str, guild: str, subject: str) -> str:
        """Delete the tier of a person or role and return its name; "" if there was none.

        `subject` is the id of the person or role; `guild` is the server of a role, "" for a person.
        """
        rows = await transaction.fetch(_TAKE_TIER, {"platform": platform, "guild": guild, "id": subject})
        return str(rows[0]["tier"]) if rows else ""

    async def accepted_with(self, transaction: Transaction, task: str, tier: str) -> None:
        """Store the tier whose quota applied when the task was accepted."""
        await transaction.fetch(_ACCEPT, {"task": int(task), "tier": tier})

    async def now_with(self, task: str, tier: str) -> None:
        """Replace the tier of the task (or of the task that it is a part of); "" removes it. Raises StoreError."""
        values: Parameters = {"task": int(task), "tier": tier}
        statements = (_FORGET_TIER, _NOW_WITH) if tier else (_FORGET_TIER,)
        await self._database.write(in_turn(*((statement, values) for statement in statements)))

    async def of_task(self, task: str, source: Source | None = None) -> str:
        """Return the tier whose quota applies to the task (or to the task that it is a part of); "" if none does."""
        rows = await (source or self._database).fetch(_TIER_OF, {"task": int(task)})
        return str(rows[0]["tier"]) if rows else ""


class Links(TableAccess):
    """The table of accounts that are linked as one person's. A person has at most one account per platform."""

    async def all(self, source: Source | None = None) -> tuple[tuple[Person, ...], ...]:
        """Return the linked accounts of each person who has several. With `source`, as the open transaction sees
        them.
        """
        people: dict[int, list[Person]] = defaultdict(list)
        for row in await (source or self._database).fetch(_LINKS):
            people[row["person"]].append(LINKED.read(row))
        return tuple(tuple(accounts) for accounts in people.values())

    async def join(self, transaction: Transaction, known: Person, other: Person) -> bool:
        """Link the account `other` with the person who has the account `known`.

        Returns False and changes nothing if `other` is linked already or the person has another account on its
        platform.
        """
        people = await self.all(transaction)
        of_other = next((accounts for accounts in people if _among(other, accounts)), ())
        accounts = next((accounts for accounts in people if _among(known, accounts)), (known,))
        if of_other or any(account.platform == other.platform for account in accounts):
            return False
        of_known = await transaction.fetch(_PERSON_OF, LINKED.values(known))
        ((person,),) = of_known or await transaction.fetch(_NEXT)
        for one in (known, other)[len(of_known) :]:
            await transaction.fetch(_LINK, {**LINKED.values(one), "person": person})
        return True

    async def leave(self, transaction: Transaction, platform: str, account: str) -> tuple[Person, ...]:
        """Unlink an account, and return the accounts that it was linked with. If only one of these remains, it is
        unlinked too.
        """
        people = await self.all(transaction)
        accounts = next((found for found in people if _among(Person(platform, account), found)), ())
        await transaction.fetch(_UNLINK, {"platform": platform, "id": account})
        others = tuple(one for one in accounts if (one.platform, one.id) != (platform, account))
        if len(others) == 1:
            await transaction.fetch(_UNLINK, LINKED.values(others[0]))
        return others


def _among(person: Person, accounts: tuple[Person, ...]) -> bool:
    return any((person.platform, person.id) == (account.platform, account.id) for account in accounts)


_TOKEN: Final = Codec(Token, tokens)
_ALL: Final = select(tokens).order_by(tokens.c.name)
_ADD: Final = insert(tokens, (*_TOKEN.columns, "digest")).on_conflict_do_nothing().returning(tokens.c.name)
_REMOVE: Final = delete(tokens).where(given(tokens.c.name))
_TOUCH: Final = update(tokens).where(given(tokens.c.name)).values(used=bindparam("used"))


class TokenTable(TableAccess):
    """The table of access tokens. Whether a token is still valid is decided by `bot.people.tokens`."""

    async def all(self, source: Source | None = None) -> tuple[tuple[str, Token], ...]:
        """Return all tokens as (digest of the secret, token), sorted by name. With `source`, as the open transaction
        sees them.
        """
        rows = await (source or self._database).fetch(_ALL)
        return tuple((row["digest"], _TOKEN.read(row)) for row in rows)

    async def add(self, transaction: Transaction, token: Token, digest: str) -> bool:
        """Store a token. Returns False and changes nothing if its name is taken."""
        return bool(await transaction.fetch(_ADD, {**_TOKEN.values(token), "digest": digest}))

    async def remove(self, transaction: Transaction, name: str) -> None:
        """Delete the token with this name."""
        await transaction.fetch(_REMOVE, {"name": name})

    async def touch(self, name: str, used: float) -> None:
        """Store when a token was last used. Raises StoreError."""
        await self._database.execute(_TOUCH, {"name": name, "used": used})
