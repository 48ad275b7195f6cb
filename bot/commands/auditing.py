"""The audit: who did what, and how often strangers were turned away. For admins only."""

from __future__ import annotations

import time
from collections import Counter

from bot.chats.outgoing import Reply
from bot.commands.request import Refused, Request, Services, aside
from bot.store.audit import AuditEntry, AuditKind
from bot.texts import known_as, say

PAGE = 20
"""Entries on one page."""
SHOWN_DETAIL = 120
"""Characters of a detail on a page."""


async def audit(request: Request, services: Services) -> Reply:
    """One page, the latest first; `--before N` shows what is older than entry N."""
    before = request.option("before").removeprefix("#")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise Refused(say("audit.bad_number", name=before[:40]))
    found = await services.store.audit.page(PAGE + 1, int(before) if before else None)
    lines = [_line(entry) for entry in found[:PAGE]] or [say("audit.empty")]
    if len(found) > PAGE:
        lines.append(say("audit.older", line=f"{request.prefix}audit --before {found[PAGE - 1].number}"))
    if not before:
        lines += await _turned_away(services)
    return aside("\n".join(lines), heading=say("audit.heading"))


async def _turned_away(services: Services) -> list[str]:
    """How many strangers were turned away, by platform; who they were is not kept."""
    sums: Counter[str] = Counter()
    for count in await services.store.refusals.totals():
        sums[count.platform] += count.count
    return [say("audit.strangers", platform=platform, number=number) for platform, number in sorted(sums.items())]


def _line(entry: AuditEntry) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
    by = entry.person.name or entry.person.id
    detail = " ".join(entry.detail.split())
    if entry.kind in {AuditKind.FETCHED, AuditKind.NOT_FETCHED}:
        # What was kept is English, whoever did it.
        detail = known_as("audit.detail.", detail, lambda _, value: value)
    detail = detail[:SHOWN_DETAIL]
    if entry.kind is AuditKind.REFUSED:
        detail = say(f"access.{entry.detail}.failed")
    if entry.kind is AuditKind.UNANSWERED:
        detail = say(f"question.closed.{entry.detail}")
    words = [when, f"{by} ({entry.person.platform}:{entry.person.id})", say(f"audit.kind.{entry.kind}")]
    words += [say("audit.task", task=entry.task)] if entry.task else []
    return f"#{entry.number} " + " · ".join([*words, detail] if detail else words)
