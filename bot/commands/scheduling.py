"""The commands `schedule` and `schedules`: making plans, and looking after them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.application.access import Caller, Refused, may_show, require, verdict
from bot.application.phones import open_phones, phones_named
from bot.application.services import Services
from bot.cards.buttons import ButtonData, Deed, button
from bot.cards.formatting import shortened
from bot.cards.watch import value_words, watch_line
from bot.commands.parser import parse
from bot.commands.request import Request, plain
from bot.commands.scheduler import local_time
from bot.commands.skills import skill_draft
from bot.commands.standing import wished_yes, yes_detail, yes_words
from bot.commands.tasks import draft_of
from bot.domain.outgoing import Button, Message, Reply
from bot.domain.right import Right
from bot.domain.schedule import BadRule, Plan, RuleKind, Schedule, next_due, oddity_of, read_rule
from bot.domain.task_request import TaskDraft
from bot.domain.zones import zone_named
from bot.people.roles import can_be_asked
from bot.store.audit import AuditKind
from bot.tasks.input import clean
from bot.texts import listed, say

MOST = 20
"""Schedules of one person, on all their accounts together."""
LISTED = 5
"""Schedules that one answer lists: each has a row of buttons, and Discord has five rows."""
TEXT_SHOWN = 80
"""Characters of a task in the list."""

_KIND = re.compile(r"(?P<kind>[a-z]+)\s+(?=\S)", re.IGNORECASE)
_DO = re.compile(r"(?<=\s)(?:do|skill)\s", re.IGNORECASE)
_LIST = frozenset({"list", "列表"})
_CHANGE = re.compile(r"(?P<verb>remove|pause|resume|revoke)\s+#?(?P<schedule>\d{1,18})", re.IGNORECASE)


async def schedule(request: Request, services: Services) -> Reply:
    """Keep a plan: `at`, `every` or `cron`, then a `do` or a `skill` as it would be typed. `list` and the changes that
    `schedules` knows are taken, too.
    """
    typed = request.call.rest.strip()
    if typed.casefold() in _LIST or _CHANGE.fullmatch(typed) is not None:
        return await schedules(request, services)
    plan, due = await planned(request, services, typed, say("command.schedule.example"))
    return (await add_schedule(request, services, plan, due))[1]


async def add_schedule(caller: Caller, services: Services, plan: Plan, due: float) -> tuple[Schedule, Reply]:
    """Keep a plan, and tell what was kept."""
    made = await services.store.schedules.add(plan, now=services.clock(), due=due)
    zone = ZoneInfo(plan.rule.zone)
    time = local_time(made.due, zone)
    lines = [say("schedule.made", schedule=made.id, words=plan.words, zone=zone.key, time=time)]
    if made.plan.standing is not None:
        detail = yes_detail(made, made.plan.standing)
        await services.store.audit.note(AuditKind.ALLOWED_AHEAD, caller.person, detail=detail)
        lines.append(yes_words(made.plan.standing))
    if (odd := oddity_of(plan.rule)) is not None:
        lines.append(say(f"schedule.odd.{odd}", time=time))
    return made, Reply(Message(body="\n".join(lines), buttons=(_buttons(made),)))


async def planned(request: Request, services: Services, typed: str, example: str) -> tuple[Plan, float]:
    """The plan in such a text (`every 30m do …`), and when it is due first. Raises Refused; `example` is told then."""
    found = plan_in(typed)
    if found is None:
        raise Refused(say("schedule.bad.form", example=f"{request.prefix}{example}"))
    kind, when, typed_do = found
    wanted = parse(typed_do)
    inner = replace(request, call=replace(wanted, options={**request.call.options, **wanted.options}))
    draft = skill_draft(inner, services) if wanted.name == "skill" else draft_of(inner)
    return await plan_of(request, services, kind, when, draft, f"{request.prefix}{example}")


async def plan_of(
    request: Request, services: Services, kind: str, when: str, draft: TaskDraft, example: str
) -> tuple[Plan, float]:
    """The plan for a task, and when it is due first. The request says in which zone, and what is allowed ahead."""
    zone, now = _zone(request, services), services.clock()
    try:
        rule = read_rule(kind, when, now=now, zone=zone)
    except BadRule as bad:
        raise Refused(say(f"schedule.bad.{bad.why}", example=example)) from bad
    phones = phones_named(draft.device, open_phones(request, services)) if draft.device else None
    if phones is not None:
        draft = replace(draft, device=",".join(phone.id for phone in phones))
    await _let_make(request, services, [phone.id for phone in phones or ()])
    due = next_due(rule, after=now, begun=now)
    assert due is not None, "a rule that was read has a next time"
    yes = wished_yes(request, services, draft.device)
    # "tomorrow" means another day by the time that it is read again.
    at = rule.text.replace("T", " ") if rule.kind is RuleKind.AT else " ".join(when.split())
    draft = replace(draft, text=clean(draft.text, say("schedule.task")))
    return Plan(request.person, request.place, request.event, rule, f"{kind.lower()} {at}", draft, yes), due


def plan_in(text: str) -> tuple[str, str, str] | None:
    """The kind of a plan, when, and the `do` behind it; None when the text has another form.

    Not by one pattern for all: three parts that all take blanks would be tried in every way on a text full of them.
    """
    kind = _KIND.match(text)
    found = None if kind is None else _DO.search(text, kind.end() + 1)
    if kind is None or found is None:
        return None
    return kind["kind"], text[kind.end() : found.start()].rstrip(), text[found.start() :]


async def schedules(request: Request, services: Services) -> Reply:
    """List what this person may change here (an admin: everybody's), or change one of them."""
    typed = request.call.rest.strip()
    if not typed or typed.casefold() in _LIST:
        return await _listed(request, services)
    found = _CHANGE.fullmatch(typed)
    if found is None:
        raise Refused(say("schedule.usage", prefix=request.prefix))
    return plain(await _change(request, services, found["verb"].lower(), found["schedule"]))


async def press(data: ButtonData, request: Request, services: Services) -> Reply:
    """A button of the list or under a new schedule."""
    return plain(await _change(request, services, data.choice, data.subject))


async def _let_make(request: Request, services: Services, phones: Sequence[str]) -> None:
    """Raise Refused unless the person may, at the time of a run too, and has not too many schedules."""
    later = replace(request, person=replace(request.person, roles=frozenset()))
    for phone in phones or ("",):
        require(request, services.policy, Right.USE, phone=phone)
        later_too = verdict(later, services.policy, Right.USE, phone=phone).allowed
    if not later_too and not can_be_asked(request.person, services.chats):
        raise Refused(say("schedule.unstored_role"))
    accounts = services.policy.accounts(request.person)
    if sum([len(await services.store.schedules.all(account)) for account in accounts]) >= MOST:
        raise Refused(say("schedule.full", number=MOST))


def _zone(request: Request, services: Services) -> ZoneInfo:
    wanted = request.option("zone")
    try:
        return zone_named(wanted) if wanted else services.zone
    except ValueError:
        raise Refused(say("schedule.no_zone", name=wanted[:40])) from None


async def _change(request: Request, services: Services, verb: str, number: str) -> str:
    found = await services.store.schedules.get(number)
    if found is None or not may_see_schedule(request, services, found):
        raise Refused(say("schedule.unknown", name=number))
    require(request, services.policy, Right.USE, owner=found.plan.person)
    match verb:
        case "remove":
            await services.store.schedules.remove(found.id)
            return say("schedule.removed", schedule=found.id)
        case "revoke":
            if found.plan.standing is None:
                raise Refused(say("schedule.no_yes", schedule=found.id))
            await services.store.schedules.revoke(found.id)
            detail = yes_detail(found, found.plan.standing)
            await services.store.audit.note(AuditKind.REVOKED, request.person, detail=detail)
            return say("schedule.revoked", schedule=found.id)
        case "pause":
            await services.store.schedules.pause(found.id)
            return say("schedule.paused", schedule=found.id)
        case "resume":
            # What was due in the pause is not made up for.
            due = next_due(found.plan.rule, after=services.clock(), begun=found.created)
            if due is None:
                raise Refused(say("schedule.over", schedule=found.id))
            await services.store.schedules.resume(found.id, due)
            time = local_time(due, ZoneInfo(found.plan.rule.zone))
            if found.plan.watch is not None:
                return say("watch.on", schedule=found.id, time=time)
            return say("schedule.resumed", schedule=found.id, time=time)
        case _:
            raise Refused(say("press.unknown"))


def _example(request: Request) -> str:
    return f"{request.prefix}{say('command.schedule.example')}"


async def _listed(request: Request, services: Services) -> Reply:
    found = [one for one in await services.store.schedules.all() if may_see_schedule(request, services, one)]
    if not found:
        return plain(say("schedule.none", example=_example(request)))
    lines = [_line(one, admin_sees=not services.policy.same(one.plan.person, request.person)) for one in found[:LISTED]]
    if len(found) > LISTED:
        lines.append(say("schedule.more", number=len(found) - LISTED))
        lines += [_short(found[LISTED:])]
    rows = tuple(_buttons(one) for one in found[:LISTED])
    return Reply(Message(heading=say("schedule.heading"), body="\n".join(lines), buttons=rows))


def may_see_schedule(caller: Caller, services: Services, one: Schedule) -> bool:
    """Whether it may be shown and changed here: one's own or, for an admin, all; where its tasks may be shown."""
    admin = verdict(caller, services.policy, Right.ADMIN).allowed
    own = services.policy.same(one.plan.person, caller.person)
    return (admin or own) and may_show(caller, services.policy, one.plan.place.address, one.plan.person)


def _line(one: Schedule, *, admin_sees: bool) -> str:
    plan = one.plan
    standing = say("schedule.standing") if one.paused else _next(one)
    who = f" · {plan.person.name or plan.person.id}" if admin_sees else ""
    words = say("schedule.line", schedule=one.id, words=plan.words, text=shortened(plan.draft.text, TEXT_SHOWN))
    yes = "" if plan.standing is None else f"\n  {yes_words(plan.standing)}"
    watched = "" if plan.watch is None else f"\n  {watch_line(plan.watch)}{_last_read(one)}"
    return f"{words}\n  {standing}{who}{yes}{watched}"


def _last_read(one: Schedule) -> str:
    last = one.readings.last
    return "" if last is None else " · " + say("watch.last", value=value_words(last))


def _next(one: Schedule) -> str:
    zone = ZoneInfo(one.plan.rule.zone)
    return say("schedule.next", time=local_time(one.due, zone), zone=zone.key)


def _short(rest: Sequence[Schedule]) -> str:
    return listed(say("schedule.short", schedule=one.id, words=one.plan.words) for one in rest)


def _buttons(one: Schedule) -> tuple[Button, ...]:
    verbs = ["resume" if one.paused else "pause", *(["revoke"] if one.plan.standing is not None else [])]
    return (
        *(
            button(Deed.SCHEDULE, one.id, say(f"button.schedule.{verb}", schedule=one.id), choice=verb)
            for verb in verbs
        ),
        button(Deed.SCHEDULE, one.id, say("button.schedule.remove", schedule=one.id), choice="remove", style="danger"),
    )
