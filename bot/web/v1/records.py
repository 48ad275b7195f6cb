"""The routes of schedules, usage, quotas, memories, rights and the audit."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from bot.application.access import Unknown, verdict
from bot.application.skills import draft_of_skill
from bot.cards.formatting import reads_words, told_words, value_words
from bot.commands.scheduling import bad_rule, plan_kept, resumed_words
from bot.commands.watching import add_watch, watch_kept
from bot.domain.limits import QUOTAS
from bot.domain.locale import last_days
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from bot.domain.schedule import BadRule, Schedule
from bot.domain.task_request import SkillCall
from bot.domain.watch import Watch, WatchState
from bot.people.subjects import Subject
from bot.store.audit import AuditEntry
from bot.store.totals import UsageBy
from bot.texts import say
from bot.views.tasks import options_of, totals_json, usage_json
from bot.web.v1.asking import Caller, Id, Limit, NumberCursor, page
from bot.web.v1.calls import Calls
from bot.web.v1.models.base import Listed
from bot.web.v1.models.records import (
    AuditInfo,
    FactInfo,
    GrantInfo,
    NewSchedule,
    QuotaInfo,
    ReadingsInfo,
    ScheduleInfo,
    Statistics,
    UsageInfo,
    UsageSum,
    WhoInfo,
)

MOST_DAYS = 366

router = APIRouter(tags=["records"])


def _schedule(one: Schedule, told: str = "") -> ScheduleInfo:
    plan = one.plan
    return ScheduleInfo(
        id=one.id,
        rule=plan.words,
        zone=plan.rule.zone,
        text=plan.draft.text,
        person=str(Subject.of_person(plan.person)),
        person_name=plan.person.name or plan.person.id,
        platform=plan.person.platform,
        options=options_of(plan.draft),
        due=one.due,
        paused=one.paused,
        task=one.task or None,
        allowed=None if plan.standing is None else plan.standing.model_dump(exclude={"schedule"}),
        watch=None if plan.watch is None else plan.watch.model_dump(mode="json"),
        last=None if one.readings.last is None else one.readings.last.model_dump(mode="json"),
        readings=None if plan.watch is None else _readings(plan.watch, one.readings),
        told=told,
    )


def _readings(watch: Watch, found: WatchState) -> ReadingsInfo:
    value, now, before = ("" if one is None else value_words(one) for one in (found.last, found.told, found.before))
    return ReadingsInfo(
        reads=reads_words(watch),
        when=told_words(watch),
        value=value,
        read=found.read,
        now=now,
        before=before,
        misses=found.misses,
    )


def _words(reply: Reply) -> str:
    """Return the reply of a command as one text."""
    message = reply.message
    return "\n".join(filter(None, [message.heading, message.body] if message else [reply.toast]))


async def _visible(calls: Calls) -> list[Schedule]:
    calls.require(Right.USE)
    return await calls.schedules().visible()


@router.get("/schedules")
async def list_schedules(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[ScheduleInfo]:
    """List the schedules that this token may see and change, by number."""
    found = sorted(await _visible(calls), key=lambda one: int(one.id))
    found = [one for one in found if int(one.id) > int(cursor or 0)]
    return page([_schedule(one) for one in found], limit, found[limit - 1].id if len(found) > limit else None)


@router.post("/schedules", status_code=201)
async def create_schedule(wish: NewSchedule, calls: Caller) -> ScheduleInfo:
    """Create a schedule, or a watch."""
    calls.require(Right.USE)
    draft = wish.draft(wish.text)
    if wish.skill:
        draft = draft_of_skill(draft, SkillCall(wish.skill, wish.arguments), calls.services)
    commands = calls.schedules()
    try:
        plan, due = await commands.plan(wish.rule, draft, zone=wish.zone)
    except BadRule as bad:
        raise bad_rule(bad, say("command.schedule.example")) from bad
    if wish.tell_me_when:
        example = say("command.watch.example")
        made = await add_watch(calls.asking(), calls.services, plan, due, wish.tell_me_when, example)
        return _schedule(made, _words(watch_kept(made, calls.services)))
    made = await commands.add(plan, due)
    return _schedule(made, _words(plan_kept(made)))


async def _known(calls: Calls, schedule: str) -> str:
    if schedule not in {one.id for one in await _visible(calls)}:
        raise Unknown(say("api.no_schedule"))
    return schedule


@router.post("/schedules/{schedule}/pause")
async def pause_schedule(schedule: Id, calls: Caller) -> ScheduleInfo:
    """Pause a schedule."""
    paused = await calls.schedules().pause(await _known(calls, schedule))
    return _schedule(paused, say("schedule.paused", schedule=paused.id))


@router.post("/schedules/{schedule}/resume")
async def resume_schedule(schedule: Id, calls: Caller) -> ScheduleInfo:
    """Resume a schedule. Runs that were due while it was paused are not made up for."""
    resumed = await calls.schedules().resume(await _known(calls, schedule))
    return _schedule(resumed, resumed_words(resumed))


@router.post("/schedules/{schedule}/revoke")
async def revoke_schedule(schedule: Id, calls: Caller) -> ScheduleInfo:
    """Withdraw the standing approval of a schedule."""
    revoked = await calls.schedules().revoke(await _known(calls, schedule))
    return _schedule(revoked, say("schedule.revoked", schedule=revoked.id))


@router.delete("/schedules/{schedule}", status_code=204)
async def delete_schedule(schedule: Id, calls: Caller) -> None:
    """Delete a schedule."""
    await calls.schedules().remove(await _known(calls, schedule))


@router.get("/statistics")
async def statistics(
    calls: Caller,
    by: UsageBy = UsageBy.DAY,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS, description="How many, today included.")] = 30,
) -> Statistics:
    """Return the usage of the last days by group: of the caller's own tasks or, for an admin, of everybody's."""
    calls.require(Right.USE)
    services = calls.services
    admin = verdict(calls.asking(), services.policy, Right.ADMIN).allowed
    begin, end = last_days(days, services.clock(), services.zone)
    people = None if admin else services.policy.accounts(calls.person)
    rows = await services.store.usage.grouped(by, begin, end, services.zone, people)
    infos = [UsageInfo(**usage_json(row)) for row in rows]
    total = UsageSum(**totals_json(await services.store.usage.total(begin, end, people)))
    return Statistics(data=page(infos, max(1, len(infos)), None).data, total=total)


@router.get("/quota")
async def quota(calls: Caller) -> QuotaInfo:
    """Return how much of the limits of their tier the person has used today, with all their accounts and tokens
    together.
    """
    calls.require(Right.USE)
    standing = await calls.services.quotas.standing(calls.person, calls.asking().address)
    if standing is None:
        return QuotaInfo(tier=None)
    found = {name: standing.of(name) for name in QUOTAS}
    return QuotaInfo(
        tier=standing.name,
        ends=standing.ends,
        used={name: one[0] for name, one in found.items() if one is not None},
        limits={name: None if one is None else one[1] for name, one in found.items()},
    )


@router.get("/memories")
async def list_memories(calls: Caller) -> Listed[FactInfo]:
    """List what is remembered about the caller, the oldest first."""
    calls.require(Right.USE)
    infos = [
        FactInfo(id=one.id, text=one.text, phone=one.phone, source=one.source, created=one.created, used=one.used)
        for one in await calls.facts()
    ]
    return page(infos, max(1, len(infos)), None)


@router.get("/me")
async def me(calls: Caller) -> WhoInfo:
    """Return the caller: their token, account and rights."""
    token, owner = calls.caller.token, calls.person if calls.caller.token is None else calls.caller.token.owner
    return WhoInfo(
        token=calls.caller.name,
        person=str(Subject.of_person(owner)),
        name=owner.name,
        rights=sorted(Right if token is None else token.rights),
        phones=[] if token is None else list(token.phones),
        expires=None if token is None else token.expires,
    )


@router.get("/people")
async def people(calls: Caller) -> Listed[GrantInfo]:
    """List who has which right; for admins."""
    calls.require(Right.ADMIN)
    policy = calls.services.policy
    infos = [
        GrantInfo(person=f"{platform}:{one}", right=right.value, phone="", from_settings=True)
        for platform, lists in policy.platforms.items()
        for right, ids in ((Right.ADMIN, lists.admins), (Right.APPROVE, lists.users - lists.admins))
        for one in sorted(ids)
    ]
    infos += [
        GrantInfo(person=str(Subject.of(grant)), right=grant.right.value, phone=grant.phone, from_settings=False)
        for grant in (*policy.grants, *policy.tokens)
    ]
    return page(infos, max(1, len(infos)), None)


@router.get("/audit")
async def audit(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[AuditInfo]:
    """List who did what, the latest first; for admins."""
    calls.require(Right.ADMIN)
    found = await calls.services.store.audit.page(limit + 1, int(cursor) if cursor else None)
    return page([_entry(one) for one in found], limit, str(found[limit - 1].number) if len(found) > limit else None)


def _entry(one: AuditEntry) -> AuditInfo:
    return AuditInfo(
        id=one.number,
        at=one.at,
        kind=one.kind.value,
        person=str(Subject.of_person(one.person)),
        name=one.person.name,
        task=one.task or None,
        detail=one.detail if isinstance(one.detail, str) else one.detail.model_dump(mode="json"),
    )
