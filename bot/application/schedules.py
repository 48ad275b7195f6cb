"""What a caller can do with schedules, triggers and inbound webhooks. All three are stored as schedules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from agent.questions import StandingYes
from bot.application.access import Caller, CallerActions, NotAllowed, Refused, audited, may_show, require, verdict
from bot.application.phones import open_phones, phones_named
from bot.application.services import Services
from bot.domain.locale import zone_named
from bot.domain.right import Right
from bot.domain.schedule import Plan, Rule, RuleKind, Schedule, next_due
from bot.domain.schedule_words import read_rule
from bot.domain.task_request import TaskDraft
from bot.domain.trigger import Trigger
from bot.domain.webhook import Hook
from bot.people.subjects import can_be_asked
from bot.store.audit import AuditKind, YesDetail
from bot.store.errors import StoreConflict
from bot.tasks.input import clean
from bot.texts import say

MOST = 20
"""Maximum schedules of one person, counted over all their accounts."""


class ScheduleCommands(CallerActions):
    """The actions on schedules, triggers and inbound webhooks that one caller can perform. Every method raises
    NotAllowed, which is written to the audit log, or Refused.
    """

    async def plan(
        self, when: str, draft: TaskDraft, *, zone: str = "", yes: StandingYes | None = None
    ) -> tuple[Plan, float]:
        """Make the plan for a task that runs at set times, and return it with its first due time in Unix seconds.
        Nothing is stored yet.

        `when` is the time rule as typed, such as `every 30m`; `zone` is an IANA time zone name, "" for the service's.
        `yes` is a standing approval; it requires the right to approve on every phone that a run may use. Also raises
        BadRule and BadText.
        """
        now = self._services.clock()
        rule = read_rule(when, now=now, zone=self._zone(zone))
        due = next_due(rule, after=now, begun=now)
        assert due is not None, "a rule that was read has a next time"
        # "tomorrow" would mean another day when the stored words are read again.
        words = f"at {rule.text.replace('T', ' ')}" if rule.kind is RuleKind.AT else " ".join(when.split())
        return await self._plan(rule, words, draft, yes), due

    async def plan_trigger(
        self, trigger: Trigger, words: str, draft: TaskDraft, *, zone: str = "", yes: StandingYes | None = None
    ) -> Plan:
        """Make the plan for a task that a phone's notifications start. Nothing is stored yet. `words` describes the
        trigger to people; `zone` is the time zone of its quiet hours, "" for the service's; `yes` is a standing
        approval. Raises what `plan` raises, except BadRule.
        """
        rule = Rule(RuleKind.NOTIFICATION, "", self._zone(zone).key)
        return replace(await self._plan(rule, words, draft, yes, trigger.phone), trigger=trigger)

    async def add_hook(self, hook: Hook, draft: TaskDraft) -> Schedule:
        """Store a task that starts whenever a program calls the webhook's address. Raises what `plan` and `add` raise,
        except BadRule, and Refused if the webhook's name is taken.
        """
        plan = await self._plan(Rule(RuleKind.CALL, "", "UTC"), f"/hooks/{hook.name}", draft, None)
        try:
            return await self.add(replace(plan, hook=hook), math.inf)
        except StoreConflict:
            raise Refused(say("hook.taken", name=hook.name)) from None

    async def _plan(self, rule: Rule, words: str, draft: TaskDraft, yes: StandingYes | None, *watched: str) -> Plan:
        caller, services = self._caller, self._services
        phones = phones_named(draft.device, open_phones(caller, services)) if draft.device else None
        if phones is not None:
            draft = replace(draft, device=",".join(phone.id for phone in phones))
        async with audited(caller.person, services.store):
            self._let_make([*watched, *([phone.id for phone in phones] if phones else [""])])
            if yes is not None:
                _require_to_allow_ahead(caller, services, draft.device)
        draft = replace(draft, text=clean(draft.text, say("schedule.task")))
        return Plan(caller.person, caller.place, caller.event, rule, words, draft, yes)

    async def add(self, plan: Plan, due: float) -> Schedule:
        """Store a plan, first due at `due` in Unix seconds, and return the schedule. The same chat message creates only
        one schedule. A watch (a schedule that reads one value) begins paused. Raises Refused if the person has too
        many.
        """
        services, schedules = self._services, self._services.store.schedules
        accounts = services.policy.accounts(self._caller.person)
        async with schedules.adding:
            own = [one.plan for account in accounts for one in await schedules.all(account)]
            made_before = any((one.place.address, one.event) == (plan.place.address, plan.event) for one in own)
            if len(own) >= MOST and not made_before:
                raise Refused(say("schedule.full", number=MOST))
            made = await schedules.add(plan, now=services.clock(), due=due)
        await self._note(AuditKind.ALLOWED_AHEAD, made)
        if not plan.is_timed:
            await self._services.store.audit.note(AuditKind.TRIGGER_MADE, self._caller.person, detail=_named(made))
        return made

    async def visible(self) -> list[Schedule]:
        """Return the timed schedules that the caller may see and change at this place."""
        return [one for one in await self._all_visible() if one.plan.is_timed]

    async def triggers(self) -> list[Schedule]:
        """Return the triggers that the caller may see and change at this place."""
        return [one for one in await self._all_visible() if one.plan.trigger is not None]

    async def hooks(self) -> list[Schedule]:
        """Return the inbound webhooks that the caller may see and change at this place."""
        return [one for one in await self._all_visible() if one.plan.hook is not None]

    async def _all_visible(self) -> list[Schedule]:
        found = await self._services.store.schedules.all()
        return [one for one in found if may_see_schedule(self._caller, self._services, one)]

    async def pause(self, number: str) -> Schedule:
        """Pause the schedule with this number, and return it."""
        found = await self._own(number)
        await self._services.store.schedules.pause(found.id)
        return replace(found, paused=True)

    async def resume(self, number: str) -> Schedule:
        """Resume a paused schedule, and return it. Runs that were due while it was paused are not made up for. Raises
        Refused if no run is left.
        """
        found = await self._own(number)
        due = next_due(found.plan.rule, after=self._services.clock(), begun=found.created)
        if due is None:
            raise Refused(say("schedule.over", schedule=found.id))
        await self._services.store.schedules.resume(found.id, due)
        return replace(found, paused=False, due=due, skipped=0)

    async def revoke(self, number: str) -> Schedule:
        """Withdraw a schedule's standing approval, and return the schedule. Raises Refused if it has none."""
        found = await self._own(number)
        if found.plan.standing is None:
            raise Refused(say("schedule.no_yes", schedule=found.id))
        await self._services.store.schedules.revoke(found.id)
        await self._note(AuditKind.REVOKED, found)
        return replace(found, plan=replace(found.plan, standing=None))

    async def remove(self, number: str) -> Schedule:
        """Delete the schedule with this number, and return it."""
        found = await self._own(number)
        await self._services.store.schedules.remove(found.id)
        if not found.plan.is_timed:
            await self._services.store.audit.note(AuditKind.TRIGGER_REMOVED, self._caller.person, detail=_named(found))
        return found

    async def _own(self, number: str) -> Schedule:
        found = await self._services.store.schedules.get(number)
        if found is None or not may_see_schedule(self._caller, self._services, found):
            raise Refused(say("schedule.unknown", name=number))
        await self._require(Right.USE, owner=found.plan.person)
        return found

    async def _note(self, kind: AuditKind, schedule: Schedule) -> None:
        if (yes := schedule.plan.standing) is not None:
            detail = YesDetail(to=yes.to, app=yes.app, text=yes.text, by=yes.by, schedule=schedule.id)
            await self._services.store.audit.note(kind, self._caller.person, detail=detail)

    def _let_make(self, phones: Sequence[str]) -> None:
        """Check that the person may create a schedule that uses these phones ("" for any), and that this right can be
        checked again when it runs: it does not depend on their roles, or the platform can be asked for these. Raises
        Refused and NotAllowed.
        """
        caller, services = self._caller, self._services
        for phone in phones:
            require(caller, services.policy, Right.USE, phone=phone)
        later = replace(caller, person=replace(caller.person, roles=frozenset()))
        later_too = all(verdict(later, services.policy, Right.USE, phone=phone).allowed for phone in phones)
        if not later_too and not can_be_asked(caller.person, services.chats):
            raise Refused(say("schedule.unstored_role"))

    def _zone(self, name: str) -> ZoneInfo:
        try:
            return zone_named(name) if name else self._services.zone
        except ValueError:
            raise Refused(say("schedule.no_zone", name=name[:40])) from None


def _named(one: Schedule) -> str:
    return f"{one.id}: {one.plan.words}"


def may_see_schedule(caller: Caller, services: Services, one: Schedule) -> bool:
    """Return whether the caller may see and change a schedule. It must be their own (admins: anybody's), and its tasks
    must be ones that may be shown where they ask.
    """
    admin = verdict(caller, services.policy, Right.ADMIN).allowed
    own = services.policy.same(one.plan.person, caller.person)
    return (admin or own) and may_show(caller, services.policy, one.plan.place.address, one.plan.person)


def yes_of_now(caller: Caller, services: Services, schedule: Schedule) -> tuple[StandingYes, ...]:
    """Return the standing approvals that apply to a run of the schedule starting now: its own one, or none if the
    caller no longer has the right to approve on every phone that the run may use, or if a phone is unknown.
    """
    yes = schedule.plan.standing
    if yes is None:
        return ()
    try:
        _require_to_allow_ahead(caller, services, schedule.plan.draft.device)
    except (NotAllowed, Refused):
        return ()
    return (yes,)


def _require_to_allow_ahead(caller: Caller, services: Services, device: str) -> None:
    """Check that the person may approve on every phone that a run may get. Raises NotAllowed, or Refused for an
    unknown phone.
    """
    known = open_phones(caller, services)
    named = phones_named(device, known) if device else None
    for phone in [phone.id for phone in (known if named is None else named)] or [""]:
        require(caller, services.policy, Right.APPROVE, phone=phone)
