"""Holds the access rights that are in force: the lists in the settings, and what admins have given in addition."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from bot.domain.address import Person
from bot.domain.right import Grant, TierGift
from bot.people.access import Policy
from bot.people.pairing import Linking, Pairing
from bot.people.subjects import Subject
from bot.people.tokens import Tokens
from bot.store.audit import AuditKind
from bot.store.database import Transaction
from bot.store.store import Store

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Rights:
    """Holds the current access policy, which is replaced as a whole after each change. Read `policy` for each use
    instead of keeping it.
    """

    def __init__(
        self, lists: Policy, store: Store, pairing: Pairing | None = None, linking: Linking | None = None
    ) -> None:
        self.pairing = pairing
        """Codes for people whom nobody knows yet, None while that is off."""
        self.linking = linking or Linking()
        """Codes with which people link their own accounts."""
        self.tokens = Tokens(store)
        """What programs bring along, and people who sign in with one."""
        self._lists = self._policy = lists
        self._store = store
        self._lock = asyncio.Lock()
        self.add_token = self._refreshing(self.tokens.add)
        """Creates an access token, which is valid at once; see `Tokens.add`."""
        self.revoke_token = self._refreshing(self.tokens.revoke)
        """Revokes a token; see `Tokens.revoke`."""

    @classmethod
    async def open(
        cls, lists: Policy, store: Store, pairing: Pairing | None = None, linking: Linking | None = None
    ) -> Rights:
        """Load what admins have given, combine it with the lists in the settings, and return the result. Raises
        StoreError.
        """
        rights = cls(lists, store, pairing, linking)
        await rights.tokens.load()
        await rights._read()
        return rights

    async def replace_lists(self, lists: Policy) -> None:
        """Use these lists, which come from changed settings, from now on. Raises StoreError."""
        async with self._lock:
            self._lists = lists
            await self._read()

    async def refresh(self) -> None:
        """Rebuild the policy, because other data that it depends on has changed. Raises StoreError."""
        async with self._lock:
            await self._read()

    def listed_chats(self, platform: str) -> frozenset[str]:
        """Return the ids of the platform's chats that the settings list, as they are written there."""
        return self._lists.platforms[platform].chats if platform in self._lists.platforms else frozenset()

    @property
    def policy(self) -> Policy:
        """The current access policy."""
        return self._policy

    async def allow(self, grant: Grant, by: Person) -> None:
        """Give a right; see `Grants.give` for the rights that it replaces. `by` is the admin who gives it. Raises
        StoreError.
        """

        async def work(transaction: Transaction) -> None:
            await self._store.grants.give(transaction, grant)
            await self._store.audit.add(transaction, AuditKind.ALLOWED, by, detail=detail_of(grant))

        await self._change(work)

    async def deny(self, subject: Subject, by: Person, phone: str = "") -> tuple[Grant, ...]:
        """Take away the rights that were given to a person or role, for one phone or ("") all, and return them. Raises
        StoreError.
        """

        async def work(transaction: Transaction) -> tuple[Grant, ...]:
            known = await self._store.grants.all(transaction)
            taken = tuple(grant for grant in known if Subject.of(grant) == subject and phone in {"", grant.phone})
            for grant in taken:
                await self._store.grants.take(transaction, grant)
                await self._store.audit.add(transaction, AuditKind.DENIED, by, detail=detail_of(grant))
            return taken

        return await self._change(work)

    async def give_tier(self, subject: Subject, tier: str, by: Person) -> None:
        """Put a person, or everybody with a role, into a tier. Raises StoreError."""
        gift = TierGift(subject.platform, subject.id, tier, guild=subject.guild)

        async def work(transaction: Transaction) -> None:
            await self._store.tiers.give(transaction, gift)
            await self._store.audit.add(transaction, AuditKind.TIER, by, detail=f"{subject} {tier}")

        await self._change(work)

    async def take_tier(self, subject: Subject, by: Person) -> str:
        """Take back the tier that was given to a person or role. Returns its name, "" if there was none. Raises
        StoreError.
        """

        async def work(transaction: Transaction) -> str:
            taken = await self._store.tiers.take(transaction, subject.platform, subject.guild, subject.id)
            if taken:
                await self._store.audit.add(transaction, AuditKind.TIER, by, detail=f"{subject} -{taken}")
            return taken

        return await self._change(work)

    async def link(self, known: Person, other: Person) -> bool:
        """Link two accounts as one person's. Returns False if `other` is already linked, or if the person of `known`
        has an account on its platform. Raises StoreError.
        """

        async def work(transaction: Transaction) -> bool:
            joined = await self._store.links.join(transaction, known, other)
            if joined:
                detail = f"{Subject.of_person(known)} {Subject.of_person(other)}"
                await self._store.audit.add(transaction, AuditKind.LINKED, other, detail=detail)
            return joined

        return await self._change(work)

    async def unlink(self, subject: Subject, by: Person) -> tuple[Person, ...]:
        """Unlink an account. Returns the accounts that it was linked with. Raises StoreError."""

        async def work(transaction: Transaction) -> tuple[Person, ...]:
            others = await self._store.links.leave(transaction, subject.platform, subject.id)
            if others:
                detail = " ".join([str(subject), *(str(Subject.of_person(other)) for other in others)])
                await self._store.audit.add(transaction, AuditKind.UNLINKED, by, detail=detail)
            return others

        return await self._change(work)

    def _refreshing(self, change: Callable[Given, Awaitable[Result]]) -> Callable[Given, Coroutine[Any, Any, Result]]:
        """Return a function that makes this change, one at a time, and then rebuilds the policy."""

        async def changed(*given: Given.args, **options: Given.kwargs) -> Result:
            async with self._lock:
                try:
                    return await change(*given, **options)
                finally:
                    await self._read()

        return changed

    async def _change(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async with self._lock:
            done = await self._store.write(work)
            await self._read()
            return done

    async def _read(self) -> None:
        lists = self._lists.with_moves(await self._store.moves.all())
        self._policy = replace(
            lists,
            grants=await self._store.grants.all(),
            tiers=await self._store.tiers.all(),
            links=self.tokens.with_accounts(await self._store.links.all()),
            tokens=self.tokens.grants,
        )


def detail_of(grant: Grant) -> str:
    """Return the right as text for the audit, such as `discord:42 approve pixel`."""
    return " ".join(part for part in (str(Subject.of(grant)), grant.right.value, grant.phone) if part)
