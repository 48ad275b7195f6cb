"""The running service, as it tells of itself."""

from __future__ import annotations

from bot.checks.finding import Finding
from bot.checks.waiting import waited
from bot.cli.remote import Remote
from bot.texts import say


async def findings(remote: Remote | None) -> list[Finding]:
    """Whether a service runs, and what it waits for."""
    if remote is None:
        return [Finding("service", "note", say("check.service.away"))]
    health = await remote.health()
    found = [Finding("service", "good", say("check.service.good"))]
    if "desk" in health["wrong"]:
        found = [Finding("service", "bad", say("check.service.hangs"), say("check.service.hangs_fix"))]
    found += [waited(wait["for"], wait["why"], wait["since"]) for wait in health["waits"]]
    return found
