"""The commands `status`, `tasks`, `tools` and `usage`, which show the state of a task, the latest tasks, the available
tools, and what the tasks of the last days have used.
"""

from __future__ import annotations

import time
from dataclasses import replace

from bot.application.access import Refused, may_see, verdict
from bot.application.services import Services
from bot.cards.buttons import ButtonAction, button
from bot.cards.card import live_card, state_line
from bot.cards.final import render_final
from bot.cards.formatting import by_role, duration, elapsed, receipt, role_name, title_of, tokens
from bot.commands.request import Request, private_reply, public_reply, task_meant
from bot.domain.limits import QUOTAS
from bot.domain.locale import last_days, money
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.monitoring.dependencies import standstill_words
from bot.people.quotas import amount
from bot.store.codec import row_number
from bot.store.totals import UsageBy, UsageRow, UsageTotals, VoiceTotals
from bot.texts import counted, listed, say
from bot.views.tools import tool_lines

PAGE = 10
"""Tasks on one page of the list."""
SCANNED = 200
"""Maximum tasks examined to fill one page, as those of others may not be shown."""


async def status(request: Request, services: Services) -> Reply:
    """Show the task's card with its current state, or the final message if it has ended."""
    task = await task_meant(request, services)
    now = time.time()
    if task.state is TaskState.ENDED:
        parts = await services.task_service.parts(task.id)
        final = await render_final(task, frames=services.frames, now=now, parts=parts)
        return Reply(replace(final, notify=False, mention=None, final=False, task=""))
    held_up = standstill_words(services.waits())
    card = await live_card(task, services.task_service, frames=services.frames, now=now, note=lambda _task: held_up)
    waiting = await _also_waiting(task, request, services)
    return Reply(replace(card, footer="\n".join(part for part in (card.footer, waiting) if part), card=False, task=""))


async def _also_waiting(task: Task, request: Request, services: Services) -> str:
    """The queue places of the person's other waiting tasks, where they may be shown."""
    places = []
    for other in await services.task_service.active():
        if (
            task.id not in {other.id, other.parent}
            and other.state is TaskState.QUEUED
            and services.policy.same(other.person, request.person)
        ):
            place = await services.task_service.place_in_queue(other.id)
            if place is not None and may_see(request, services.policy, other):
                places.append(say("status.place", task=other.called, place=place))
    return say("status.waiting", places=listed(places)) if places else ""


async def tasks(request: Request, services: Services) -> Reply:
    """Show a page of recent tasks, latest first."""
    return await tasks_before(request, services, request.option("before").removeprefix("#"))


async def tasks_before(request: Request, services: Services, before: str) -> Reply:
    """Show a page of tasks older than the one with the number `before`; "" shows the latest ones."""
    if before and row_number(before) is None:
        raise Refused(say("task.unknown", name=before[:40]))
    found, more = await _page(request, services, before or None)
    if not found:
        return Reply(Message(body=say("tasks.no_more" if before else "tasks.empty")))
    now = time.time()
    lines = [f"{title_of(task)}\n  {await _standing(task, services, now)}" for task in found]
    older = ((button(ButtonAction.OLDER, found[-1].id, say("button.older")),),) if more else ()
    body = "\n".join([*lines, *filter(None, [standstill_words(services.waits())])])
    return Reply(Message(heading=say("tasks.heading"), body=body, buttons=older))


async def _page(request: Request, services: Services, before: str | None) -> tuple[list[Task], bool]:
    """One page of the tasks that may be shown here, and whether there are more."""
    admin = verdict(request, services.policy, Right.ADMIN).allowed
    accounts = services.policy.accounts(request.person) if request.place.private and not admin else None
    recent = await services.task_service.recent(SCANNED, before=before, accounts=accounts)
    shown = [task for task in recent if may_see(request, services.policy, task)]
    return shown[:PAGE], len(shown) > PAGE


async def _standing(task: Task, services: Services, now: float) -> str:
    by = task.person.name or task.person.id
    if task.state is TaskState.QUEUED:
        place = await services.task_service.place_in_queue(task.id)
        return " · ".join((state_line(task, None, place), by, duration(elapsed(task, now))))
    return " · ".join((state_line(task, None), by, receipt(task, now)))


async def tools(request: Request, services: Services) -> Reply:  # noqa: ARG001 - as every command
    """List the tools that need no phone, one per line, and why some are unavailable."""
    return public_reply("\n".join(tool_lines(services.tools())), heading=say("tools.heading"))


DAYS = 30
"""Days that are summed up unless another number is given."""
MOST_DAYS = 366
GROUPS = 15
"""Maximum groups listed: with two short lines each, about one phone screen."""


async def usage(request: Request, services: Services) -> Reply:
    """Show the totals of the person's own tasks; an admin sees everybody's. Only the person who asked sees the reply,
    where the platform can do that.
    """
    by, days = _by(request), _days(request)
    begin, end = last_days(days, services.clock(), services.zone)
    admin = verdict(request, services.policy, Right.ADMIN).allowed
    people = None if admin else services.policy.accounts(request.person)
    rows = await services.store.usage.grouped(by, begin, end, services.zone, people)
    everything = await services.store.usage.total(begin, end, people)
    heading = say("usage.all" if admin else "usage.own", days=counted("day", days))
    own = await _own_quota(request, services)
    if not rows:
        return private_reply(say("usage.none"), heading=heading, footer="\n".join(own))
    shown = rows[::-1][:GROUPS] if by is UsageBy.DAY else rows[:GROUPS]
    names = {phone.id: phone.name for phone in services.phones.list()} if by is UsageBy.PHONE else {}
    lines = ["\n  ".join([_label(row, by, names), *_lines(row.totals)]) for row in shown]
    if len(rows) > len(shown):
        lines.append(say("usage.more", number=len(rows) - len(shown)))
    footer = [say("usage.total", line=" · ".join(_lines(everything)))]
    if by not in {UsageBy.ROLE, UsageBy.MODEL} and (shares := by_role(everything.tokens)):
        footer.append(shares)
    if everything.unpriced and everything.tokens.cost is not None:
        footer.append(say("usage.unpriced", tasks=counted("task", everything.unpriced)))
    return private_reply("\n".join(lines), heading=heading, footer="\n".join([*footer, *own]))


async def _own_quota(request: Request, services: Services) -> list[str]:
    """What the person has used of their tier today, and when it begins anew."""
    standing = await services.quotas.status(request.person, request.address)
    if standing is None:
        return []
    words = listed(amount(standing, quota) for quota in QUOTAS if standing.of(quota) is not None)
    time = services.quotas.time_of(standing.ends)
    return [say("quota.own", tier=standing.name, amounts=words or say("quota.no_limit"), time=time)]


def _by(request: Request) -> UsageBy:
    wanted = request.option("by").lower() or UsageBy.DAY.value
    try:
        return UsageBy(wanted)
    except ValueError:
        raise Refused(say("usage.bad_by", name=wanted[:40], known=listed(UsageBy))) from None


def _days(request: Request) -> int:
    wanted = request.option("days") or str(DAYS)
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 4 and 1 <= int(wanted) <= MOST_DAYS):
        raise Refused(say("usage.bad_days", most=MOST_DAYS))
    return int(wanted)


def _label(row: UsageRow, by: UsageBy, names: dict[str, str]) -> str:
    if row.key:
        return role_name(row.key) if by is UsageBy.ROLE else names.get(row.key, row.label)
    if not row.totals.tasks:
        return say("usage.spoken")
    return say("usage.no_phone" if by is UsageBy.PHONE else "usage.no_model")


def _lines(totals: UsageTotals) -> list[str]:
    """What the tasks used and, on a line of its own, the voice notes."""
    if not totals.voice.notes:
        return [_line(totals)]
    return [*([_line(totals)] if totals.tasks else []), _voice(totals.voice)]


def _voice(voice: VoiceTotals) -> str:
    words = [counted("voice_note", voice.notes), duration(voice.seconds)]
    if voice.cost is not None:
        words.append(say("receipt.cost", cost=money(voice.cost)))
    return " · ".join(words)


def _line(totals: UsageTotals) -> str:
    words = [counted("task", totals.tasks), counted("step", totals.steps), duration(totals.seconds)]
    return " · ".join(word for word in (*words, tokens(totals.tokens)) if word)
