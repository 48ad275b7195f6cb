"""Callers of the application service, the check of their rights, and the exceptions that refuse a request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.domain.task import Task
from bot.people.access import AccessDecision, Policy, authorize
from bot.store.audit import AuditKind
from bot.store.store import Store


@dataclass(frozen=True, slots=True)
class Caller:
    """A person who asks for something, with the place where they ask."""

    person: Person
    place: Place
    event: str
    """The platform's id of the message, so that it creates one task at most; "" always counts as new."""
    message: MessageRef | None = field(default=None, kw_only=True)
    """The message with the request; None if there is none."""

    @property
    def address(self) -> Address:
        """The address of the place where the person asks."""
        return self.place.address


class Refused(Exception):
    """A request was not carried out. The text tells the person why, and what to do."""

    def with_text(self, text: str) -> Refused:
        """The same refusal with another text."""
        return Refused(text)


class Unknown(Refused):
    """The request names something that does not exist, or that the caller may not see."""


class NotAllowed(Refused):
    """The person lacks the right to do this; `check` names the access check that failed, for the audit."""

    def __init__(self, text: str, check: str) -> None:
        super().__init__(text)
        self.check = check
        self.audited = False

    def with_text(self, text: str) -> NotAllowed:
        """The same refusal with another text."""
        other = NotAllowed(text, self.check)
        other.audited = self.audited
        return other


@asynccontextmanager
async def audited(person: Person, store: Store) -> AsyncIterator[None]:
    """Record a NotAllowed raised inside the block in the audit. Each is recorded once, even through nested blocks."""
    try:
        yield
    except NotAllowed as refused:
        if not refused.audited:
            await store.audit.note(AuditKind.REFUSED, person, detail=refused.check)
            refused.audited = True
        raise


def verdict(
    caller: Caller, policy: Policy, right: Right, *, owner: Person | None = None, phone: str = ""
) -> AccessDecision:
    """The access decision for this caller: `authorize` for their person and place."""
    return authorize(caller.person, caller.place, right, policy, owner=owner, phone=phone)


def require(caller: Caller, policy: Policy, right: Right, *, owner: Person | None = None, phone: str = "") -> None:
    """Check that the caller has a right. Raises NotAllowed with the reason."""
    found = verdict(caller, policy, right, owner=owner, phone=phone)
    if not found.allowed:
        raise NotAllowed(found.reason, found.checks[-1].name)


def may_see(caller: Caller, policy: Policy, task: Task) -> bool:
    """Whether a task may be shown to the caller at the place where they ask."""
    return may_show(caller, policy, task.origin, task.person)


def may_show(caller: Caller, policy: Policy, origin: Address, owner: Person) -> bool:
    """Whether something that was asked for at `origin` by `owner` may be shown to the caller where they ask. In a group
    that is what comes from the same group; in a private chat also everything of their own (for an admin, of everybody).
    The operator sees everything.

    What was asked for in a private chat is never shown in a group, not even to its owner.
    """
    if caller.person.platform in OPERATOR_PLATFORMS:
        return verdict(caller, policy, Right.ADMIN).allowed
    here = caller.address
    if (here.platform, here.account, here.guild, here.chat) == (
        origin.platform,
        origin.account,
        origin.guild,
        origin.chat,
    ):
        return True
    admin = verdict(caller, policy, Right.ADMIN).allowed
    return caller.place.private and (admin or policy.same(caller.person, owner))
