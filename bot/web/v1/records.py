"""The routes and models of schedules, usage, quotas, memories, rights and the audit."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from agent.ports.memory import FactSource
from bot.application.access import Unknown, verdict
from bot.cards.formatting import reads_words, told_words, value_words
from bot.commands.scheduling import add_watch, bad_rule, plan_kept, resumed_words, watch_kept
from bot.domain.limits import QUOTAS
from bot.domain.locale import last_days
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from bot.domain.schedule import BadRule, Schedule
from bot.domain.watch import MOST_CONDITION, Watch, WatchState
from bot.people.subjects import Subject
from bot.store.audit import AuditEntry
from bot.store.totals import UsageBy
from bot.texts import say
from bot.views.tasks import Json, options_of, totals_json, usage_json
from bot.web.v1.asking import Caller, Id, Limit, NumberCursor, after, page, whole
from bot.web.v1.calls import Calls
from bot.web.v1.models import NAME_LIMIT, Got, Listed, Name, WhatToDo


class NewSchedule(WhatToDo):
    """A task to repeat at set times, as text or as a skill with arguments. With `tell_me_when` it is a watch. A watch
    is paused until POST /schedules/{id}/resume confirms that its condition was understood correctly.
    """

    rule: str = Field(
        min_length=1, max_length=NAME_LIMIT, description="`every 2h`, `every monday at 8 pm`, `cron 0 8 * * 1-5`."
    )
    tell_me_when: str = Field(
        default="", max_length=MOST_CONDITION, description="Makes it a watch: `the price is below $50`, `it changes`."
    )
    zone: Name = ""


class ReadingsInfo(Got):
    """What a watch reads and when it reports, as text; missing values are empty."""

    reads: str
    when: str = Field(description="When it is told.")
    value: str = Field(description="The last one that was read.")
    read: float | None = Field(description="When that was, in Unix seconds; null where it is not known.")
    now: str = Field(description="The last one that was told.")
    before: str = Field(description="The one before that.")
    misses: int = Field(description="How often in a row nothing was found.")


class ScheduleInfo(Got):
    """A schedule. Times are Unix seconds."""

    id: str
    rule: str
    zone: str
    text: str
    person: str
    person_name: str
    platform: str
    options: dict[str, Any] = Field(description="How it is to be done, as far as that is more than what is set.")
    due: float
    paused: bool
    task: str | None
    allowed: dict[str, Any] | None = Field(description="What a person has allowed ahead for it.")
    watch: dict[str, Any] | None = Field(description="What is read and compared each time, where it watches.")
    last: dict[str, Any] | None = Field(description="The last reading.")
    readings: ReadingsInfo | None = Field(description="The same in words, where it watches.")
    told: str = Field(default="", description="What there is to say of it when it was made or changed.")


class UsageSum(Got):
    """The total usage of several tasks."""

    tasks: int
    steps: int
    seconds: float
    tokens: dict[str, Any]
    unpriced: int
    voice: dict[str, Any]


class UsageInfo(UsageSum):
    """The usage of one day, person, phone, role or model."""

    key: str
    label: str


class Statistics(Listed[UsageInfo]):
    """The usage by group, and the total."""

    total: UsageSum


class QuotaInfo(Got):
    """How much of the limits of their tier the caller has used today. `tier` is null for people without limits."""

    tier: str | None
    ends: float | None = None
    used: dict[str, float] = Field(default_factory=dict)
    limits: dict[str, float | None] = Field(default_factory=dict)


class FactInfo(Got):
    """A fact that is remembered about a person. Times are Unix seconds."""

    id: int
    text: str
    phone: str = Field(description="The id of the only phone that it holds for; empty for any.")
    source: FactSource = Field(description="Who said it: the person, or with their yes a screen or a page.")
    created: float
    used: float | None = Field(description="When it was last recalled.")


class WhoInfo(Got):
    """The caller of the API: their token, account and rights."""

    token: str = Field(description="Its name; empty for the operator, who needs none.")
    person: str
    name: str
    rights: list[str]
    phones: list[str] = Field(description="The only phones that the rights are for; empty for all.")
    expires: float | None


class GrantInfo(Got):
    """A right that a person or role has, for one phone or for all."""

    person: str
    right: str
    phone: str
    from_settings: bool


class AuditInfo(Got):
    """One entry of the audit log: something that a person did."""

    id: int
    at: float
    kind: str
    person: str
    name: str
    task: str | None
    detail: Any


MOST_DAYS = 366

router = APIRouter(tags=["records"])


def plan_json(one: Schedule) -> Json:
    """Return the fields that the API has of schedules and triggers alike."""
    plan = one.plan
    return {
        "id": one.id,
        "rule": plan.words,
        "zone": plan.rule.zone,
        "text": plan.draft.text,
        "person": str(Subject.of_person(plan.person)),
        "person_name": plan.person.name or plan.person.id,
        "platform": plan.person.platform,
        "options": options_of(plan.draft),
        "paused": one.paused,
        "task": one.task or None,
        "allowed": None if plan.standing is None else plan.standing.model_dump(exclude={"schedule"}),
    }


def _schedule(one: Schedule, told: str = "") -> ScheduleInfo:
    plan = one.plan
    return ScheduleInfo(
        **plan_json(one),
        due=one.due,
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
    message = reply.message
    return "\n".join(filter(None, [message.heading, message.body] if message else [reply.toast]))


async def _visible(calls: Calls) -> list[Schedule]:
    calls.require(Right.USE)
    return await calls.schedules().visible()


@router.get("/schedules")
async def list_schedules(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[ScheduleInfo]:
    """List the schedules that this token may see and change, by number."""
    return page([_schedule(one) for one in after(await _visible(calls), cursor)], limit)


@router.post("/schedules", status_code=201)
async def create_schedule(wish: NewSchedule, calls: Caller) -> ScheduleInfo:
    """Create a schedule, or a watch."""
    calls.require(Right.USE)
    draft, commands = calls.draft(wish), calls.schedules()
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
    return Statistics(data=whole(infos).data, total=total)


@router.get("/quota")
async def quota(calls: Caller) -> QuotaInfo:
    """Return how much of the limits of their tier the person has used today, with all their accounts and tokens
    together.
    """
    calls.require(Right.USE)
    standing = await calls.services.quotas.status(calls.person, calls.asking().address)
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
    return whole(infos)


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
    return whole(infos)


@router.get("/audit")
async def audit(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[AuditInfo]:
    """List who did what, the latest first; for admins."""
    calls.require(Right.ADMIN)
    found = await calls.services.store.audit.page(limit + 1, int(cursor) if cursor else None)
    return page([_entry(one) for one in found], limit)


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
