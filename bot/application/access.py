"""Callers of the application service, the check of their rights, and the exceptions that refuse a request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from bot.application.services import Services
from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.domain.task import Task
from bot.people.access import AccessDecision, Policy, authorize
from bot.store.audit import AuditKind
from bot.store.store import Store


@dataclass(frozen=True, slots=True)
class Caller:
    """A person who makes a request, and the place (chat, console page, API) where they make it."""

    person: Person
    place: Place
    event: str
    """The platform's id of the request's message, used to create at most one task for it; "" means every request counts
    as new.
    """
    message: MessageRef | None = field(default=None, kw_only=True)
    """The message with the request; None if there is none."""

    @property
    def address(self) -> Address:
        """The address of the place where the person makes the request."""
        return self.place.address


class Refused(Exception):
    """Raised when a request is not carried out. Its text tells the person why, and what they can do."""

    def with_text(self, text: str) -> Refused:
        """Return the same refusal with `text` in place of its own text."""
        return Refused(text)


class Unknown(Refused):
    """The request names something that does not exist, or that the caller may not see."""


class NotAllowed(Refused):
    """The person lacks the right to do this. `check` is the name of the access check that failed, for the audit log."""

    def __init__(self, text: str, check: str) -> None:
        super().__init__(text)
        self.check = check
        self.audited = False

    def with_text(self, text: str) -> NotAllowed:
        """Return the same refusal with `text` in place of its own text. It keeps the failed check, and whether the
        audit already has it.
        """
        other = NotAllowed(text, self.check)
        other.audited = self.audited
        return other


@asynccontextmanager
async def audited(person: Person, store: Store) -> AsyncIterator[None]:
    """Write a NotAllowed raised inside the block to the audit log, then let it propagate. Nested blocks record it only
    once.
    """
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
    """Decide whether the caller has `right`, and return the decision with the checks behind it. Calls `authorize` with
    the caller's person and place: `owner` is the person whose task the request is about, None for no task; `phone` is
    the id of the phone that it is about, "" for none.
    """
    return authorize(caller.person, caller.place, right, policy, owner=owner, phone=phone)


def require(caller: Caller, policy: Policy, right: Right, *, owner: Person | None = None, phone: str = "") -> None:
    """Check that the caller has `right`; raises NotAllowed with the reason if not. `owner` and `phone` are those of
    `verdict`.
    """
    found = verdict(caller, policy, right, owner=owner, phone=phone)
    if not found.allowed:
        raise NotAllowed(found.reason, found.checks[-1].name)


class CallerActions:
    """Base class of the actions that one caller can perform with the service."""

    def __init__(self, caller: Caller, services: Services) -> None:
        self._caller = caller
        self._services = services

    async def _require(self, right: Right, *, owner: Person | None = None, phone: str = "") -> None:
        """Like `require`; a refusal is also written to the audit log."""
        async with audited(self._caller.person, self._services.store):
            require(self._caller, self._services.policy, right, owner=owner, phone=phone)


def may_see(caller: Caller, policy: Policy, task: Task) -> bool:
    """Return whether the task may be shown to the caller at the place where they ask; the rules are those of
    `may_show`.
    """
    return may_show(caller, policy, task.origin, task.person)


def may_show(caller: Caller, policy: Policy, origin: Address, owner: Person) -> bool:
    """Return whether the caller may see, at the place where they ask, something that `owner` asked for at `origin`.

    In a group they see what was asked for in that group. In a private chat they also see everything of their own, and
    admins everything of everybody. The operator sees everything. A request made in a private chat is never shown in a
    group, not even to its owner.
    """
    if caller.person.platform in OPERATOR_PLATFORMS:
        return verdict(caller, policy, Right.ADMIN).allowed
    if replace(caller.address, thread="") == replace(origin, thread=""):
        return True
    admin = verdict(caller, policy, Right.ADMIN).allowed
    return caller.place.private and (admin or policy.same(caller.person, owner))
