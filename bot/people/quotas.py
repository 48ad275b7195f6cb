"""Quotas: how much the tasks of one person may use in a day. The limits depend on the person's tier.

Usage is computed from the stored tasks and voice notes alone, so that a restart changes nothing. A task counts in full
on the day on which it was accepted; a task for several phones counts as one task for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from agent.error_mapping import Fault, FaultKind
from agent.models.base import Usage
from agent.run import Outcome
from bot.config.settings import Settings
from bot.domain.address import NOWHERE, Address, Person
from bot.domain.limits import QUOTAS, Tier, largest, smallest
from bot.domain.locale import day_begins, day_of
from bot.domain.task import OverQuota, Task, UnknownTask
from bot.domain.task_request import TaskRequest
from bot.people.access import is_admin
from bot.people.rights import Rights
from bot.store.audit import AuditKind
from bot.store.database import Source, Transaction
from bot.store.store import Store
from bot.store.totals import UsageTotals
from bot.store.waiting import PATIENCE_S, retry_while_away
from bot.texts import say, speaking

_USED: Final[Mapping[str, Callable[[UsageTotals], float]]] = {
    "tasks": lambda used: used.tasks,
    "steps": lambda used: used.steps,
    "tokens": lambda used: used.tokens.input + used.tokens.output,
    "cost": lambda used: used.cost or 0.0,
}


@dataclass(frozen=True, slots=True)
class QuotaStatus:
    """What a person has used today, and the limits of their tier. The day ends at `ends` (Unix seconds)."""

    name: str
    tier: Tier
    used: UsageTotals
    ends: float

    def of(self, quota: str) -> tuple[float, float] | None:
        """Return the amount used and the limit of this quota; None if the tier does not limit it."""
        limit: float | None = getattr(self.tier, quota)
        return None if limit is None else (_USED[quota](self.used), limit)

    def used_up(self, quotas: Collection[str] = QUOTAS) -> str:
        """Return the name of the first of these quotas that is used up; "" if none is."""
        found = {quota: self.of(quota) for quota in quotas}
        return next((quota for quota, of in found.items() if of is not None and of[0] >= of[1]), "")

    def has_room_for(self, tasks: int) -> bool:
        """Return whether this many more tasks are allowed today."""
        return self.tier.tasks is None or self.used.tasks + tasks <= self.tier.tasks


class Quotas:
    """Checks quotas. Implements agent.limits.Allowance.

    `settings` returns the current settings; days are those of `zone`; `clock` returns Unix seconds.
    """

    def __init__(
        self,
        store: Store,
        rights: Rights,
        settings: Callable[[], Settings],
        zone: ZoneInfo,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._rights = rights
        self._settings = settings
        self._zone = zone
        self._clock = clock
        self._audited: set[str] = set()

    def tier_of(self, person: Person, address: Address) -> str:
        """Return the name of this person's tier at a place; "" if their use is not limited.

        A tier given to the person comes first, then tiers given to their roles. Without either, admins have no tier and
        everybody else has the default. If several tiers were given to the person, the smallest counts; of several
        roles' tiers, the largest.
        """
        policy, settings = self._rights.policy, self._settings()
        if own := self._own(person):
            return own
        roles = [gift.tier for gift in policy.tiers if gift.guild and gift.names(person, address)]
        if roles:
            return largest(roles, settings.tiers)
        return "" if is_admin(person, address, policy) else settings.default_tier

    async def status(self, person: Person, address: Address) -> QuotaStatus | None:
        """Return what this person has used today, with their limits; None if they have no tier, or if it is not
        defined.
        """
        name = self.tier_of(person, address)
        if name not in self._settings().tiers:
            return None
        begin, end = self._day(self._clock())
        return self._status(name, await self._store.usage.total(begin, end, self._accounts(person)), end)

    async def admit(self, transaction: Transaction, task: Task, request: TaskRequest) -> None:
        """Check that the person's quotas leave room for the task that was just written. Raises OverQuota."""
        name = self.tier_of(request.person, request.origin.address)
        if not name:
            return
        begin, end = self._day(task.created)
        used = await self._store.usage.total(
            begin, end, self._accounts(request.person), before=task.id, source=transaction
        )
        standing = self._status(name, used, end)
        if standing is None:
            raise OverQuota(say("quota.no_tier", tier=name), f"tier {name}")
        if quota := standing.used_up():
            text = say("quota.refused", amount=amount(standing, quota), tier=name, time=self.time_of(end))
            raise OverQuota(text, _detail(standing, quota))
        if not standing.has_room_for(len(request.phones) or 1):
            told = {"amount": amount(standing, "tasks"), "tier": name, "phones": len(request.phones)}
            raise OverQuota(say("quota.too_many_phones", **told), _detail(standing, "tasks"))
        await self._store.tiers.accepted_with(transaction, task.id, name)

    async def admit_voice(self, person: Person, address: Address) -> None:
        """Check that the person may send a voice note, as transcribing it costs money. Raises OverQuota."""
        name = self.tier_of(person, address)
        if not name:
            return
        standing = await self.status(person, address)
        if standing is None:
            raise OverQuota(say("quota.no_tier", tier=name), f"tier {name}")
        if quota := standing.used_up(("cost",)):
            words = say("voice.over_quota", amount=amount(standing, quota), tier=name, time=self.time_of(standing.ends))
            raise OverQuota(words, _detail(standing, quota))

    async def update_tier(self, task: Task, person: Person) -> None:
        """Let the person's current roles decide the tier of the task, instead of those that they had when it was given.
        `person` has these roles.

        Raises StoreError.
        """
        if self._rights.policy.tier_depends_on_roles(person, task.origin):
            await self._store.tiers.now_with(task.id, self.tier_of(person, task.origin))

    async def reached_limit(self, task: str, steps: int, usage: Usage) -> Fault | None:
        """Return, as a fault, the limit that the task has reached, or that its tier is no longer defined; None if there
        is neither. What the person's other tasks use meanwhile counts as well. `steps` and `usage` are what the task
        has used. Waits while the store is unavailable, which holds up the task.
        """
        return await retry_while_away(lambda: self._reached(task, steps, usage), seconds=PATIENCE_S)

    async def _reached(self, task: str, steps: int, usage: Usage) -> Fault | None:
        async def work(source: Source) -> tuple[Task | None, str]:
            return await self._store.tasks.get(task, source), await self._store.tiers.of_task(task, source)

        found, accepted_with = await self._store.read(work)
        if found is None:
            raise UnknownTask(task)
        name = self._own(found.person) or accepted_with
        if not name:
            return None
        begin, end = self._day(found.created)
        others = await self._store.usage.total(begin, end, self._accounts(found.person), without=task)
        standing = self._status(name, others + UsageTotals(steps=steps, tokens=usage), end)
        with speaking(found.person.language):
            if standing is None:
                fault = _fault(say("quota.no_tier", tier=name))
                return await self._audit_once(found, fault, f"tier {name}")
            quota = standing.used_up(QUOTAS[1:])
            if not steps and not quota:
                # Not begun yet: earlier tasks of the day come first.
                earlier = await self._store.usage.total(begin, end, self._accounts(found.person), before=task)
                standing = self._status(name, earlier, end) or standing
                quota = standing.used_up(QUOTAS[:1])
            if not quota:
                return None
            happened = say("quota.reached", amount=amount(standing, quota), tier=name)
            over = end <= self._clock()
            then = say("quota.begun_anew") if over else say("quota.again", time=self.time_of(end))
            fault = _fault(happened, then)
            return await self._audit_once(found, fault, _detail(standing, quota))

    def _own(self, person: Person) -> str:
        gifts, accounts = self._rights.policy.tiers, self._accounts(person)
        given = [gift.tier for gift in gifts if any(gift.names(account, NOWHERE) for account in accounts)]
        return smallest(given, self._settings().tiers)

    def _accounts(self, person: Person) -> tuple[Person, ...]:
        """All accounts of the person, whose use is counted together."""
        return self._rights.policy.accounts(person)

    def _status(self, name: str, used: UsageTotals, end: float) -> QuotaStatus | None:
        tier = self._settings().tiers.get(name)
        return None if tier is None else QuotaStatus(name, tier, used, end)

    def _day(self, moment: float) -> tuple[float, float]:
        day = day_of(moment, self._zone)
        return day_begins(day, self._zone), day_begins(day + timedelta(days=1), self._zone)

    def time_of(self, moment: float) -> str:
        """Return a Unix time, such as the one at which a quota begins anew, as text."""
        return f"{datetime.fromtimestamp(moment, self._zone):%Y-%m-%d %H:%M} ({self._zone.key})"

    async def _audit_once(self, task: Task, fault: Fault, detail: str) -> Fault:
        """Record the fault in the audit, once per task: every further check finds it again."""
        if task.id not in self._audited:
            whole = task.parent or task.id
            await self._store.audit.note(AuditKind.OVER_QUOTA, task.person, task=whole, detail=detail)
            self._audited.add(task.id)
        return fault


def _fault(happened: str, then: str = "") -> Fault:
    return Fault(FaultKind.BUDGET, happened, say("quota.stopped"), then, Outcome.BLOCKED)


def amount(status: QuotaStatus, quota: str) -> str:
    """Return the amount used and the limit of a quota as text, such as "3 of 20 tasks"."""
    used, limit = status.of(quota) or (0, 0)
    return say(f"quota.amount.{quota}", used=_number(used), limit=_number(limit))


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _detail(status: QuotaStatus, quota: str) -> str:
    used, limit = status.of(quota) or (0, 0)
    return f"{quota} {used:g}/{limit:g} {status.name}"
