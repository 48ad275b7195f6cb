"""The running service, as it tells of itself."""

from __future__ import annotations

from bot.checks.finding import Finding
from bot.checks.waiting import waited
from bot.cli.remote import Remote


async def findings(remote: Remote | None) -> list[Finding]:
    """Whether a service runs, and what it waits for."""
    if remote is None:
        return [Finding("service", "note", "The service is not running.")]
    health = await remote.health()
    found = [Finding("service", "good", "The service is running.")]
    if "desk" in health["wrong"]:
        found = [
            Finding("service", "bad", "The service hangs: its desk does not turn.", "Restart it, and see its log.")
        ]
    found += [waited(wait["for"], wait["why"], wait["since"]) for wait in health["waits"]]
    return found
