"""The command `usage`: shows what the tasks of the last days have used."""

from __future__ import annotations

from bot.application.access import Refused, verdict
from bot.application.services import Services
from bot.cards.formatting import by_role, duration, role_name, tokens
from bot.commands.request import Request, aside
from bot.domain.limits import QUOTAS
from bot.domain.locale import last_days, money
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from bot.people.quotas import amount
from bot.store.totals import UsageBy, UsageRow, UsageTotals, VoiceTotals
from bot.texts import counted, listed, say

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
        return aside(say("usage.none"), heading=heading, footer="\n".join(own))
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
    return aside("\n".join(lines), heading=heading, footer="\n".join([*footer, *own]))


async def _own_quota(request: Request, services: Services) -> list[str]:
    """What the person has used of their tier today, and when it begins anew."""
    standing = await services.quotas.standing(request.person, request.address)
    if standing is None:
        return []
    words = listed(amount(standing, quota) for quota in QUOTAS if standing.of(quota) is not None)
    time = services.quotas.time_of(standing)
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
    tasks = [_line(totals)] if totals.tasks or not totals.voice.notes else []
    return [*tasks, *([_voice(totals.voice)] if totals.voice.notes else [])]


def _voice(voice: VoiceTotals) -> str:
    words = [counted("voice_note", voice.notes), duration(voice.seconds)]
    if voice.cost is not None:
        words.append(say("receipt.cost", cost=money(voice.cost)))
    return " · ".join(words)


def _line(totals: UsageTotals) -> str:
    words = [counted("task", totals.tasks), counted("step", totals.steps), duration(totals.seconds)]
    return " · ".join(word for word in (*words, tokens(totals.tokens)) if word)
