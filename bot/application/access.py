"""Who asks for something, whether they may, and the refusals that tell them why not."""

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
    """Somebody who asks for something at a place."""

    person: Person
    place: Place
    event: str
    """The platform's id of what was sent: the same one gives no second task. "" is always new."""
    message: MessageRef | None = field(default=None, kw_only=True)
    """The message with which they ask; None where there is none."""

    @property
    def address(self) -> Address:
        """Where it was asked."""
        return self.place.address


class Refused(Exception):
    """What was asked for is not done; the text says why and what to do, for the person who asked."""

    def with_text(self, text: str) -> Refused:
        """A refusal for what this one is for, in other words."""
        return Refused(text)


class Unknown(Refused):
    """What the request names does not exist for whoever asks."""


class NotAllowed(Refused):
    """The person may not do that; `check` names what refused it, for the audit."""

    def __init__(self, text: str, check: str) -> None:
        super().__init__(text)
        self.check = check
        self.audited = False

    def with_text(self, text: str) -> NotAllowed:
        """A refusal for what this one is for, in other words."""
        other = NotAllowed(text, self.check)
        other.audited = self.audited
        return other


@asynccontextmanager
async def audited(person: Person, store: Store) -> AsyncIterator[None]:
    """What is refused to somebody who may use the bot is kept in the audit, once, however many of these it passes."""
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
    """What access says about this caller."""
    return authorize(caller.person, caller.place, right, policy, owner=owner, phone=phone)


def require(caller: Caller, policy: Policy, right: Right, *, owner: Person | None = None, phone: str = "") -> None:
    """Raise NotAllowed with the reason unless the person may."""
    found = verdict(caller, policy, right, owner=owner, phone=phone)
    if not found.allowed:
        raise NotAllowed(found.reason, found.checks[-1].name)


def may_see(caller: Caller, policy: Policy, task: Task) -> bool:
    """Whether a task may be shown here."""
    return may_show(caller, policy, task.origin, task.person)


def may_show(caller: Caller, policy: Policy, origin: Address, owner: Person) -> bool:
    """Whether what was asked there may be shown here: what comes from this chat, and in private one's own (an admin:
    all). The operator sees everything.

    What was given in a private chat does not show up in a group, not even for its owner.
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
