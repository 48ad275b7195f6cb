"""The running service, as it tells of itself."""

from __future__ import annotations

from datetime import datetime

from bot.checks.finding import Finding
from bot.cli.remote import Remote

FIXES = {
    "store": "Make room on the disk, or end the program that holds the database.",
    "disk": "Make room, or set DATA_DIR to a larger disk.",
    "model": "Look at the endpoint; work goes on by itself when it answers.",
    "adb": "See the adb servers below; phones come back by themselves.",
    "phones": "See the phones below.",
}
"""What to do about what the service waits for; about a chat it is said with the chats."""


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
    for wait in health["waits"]:
        since = datetime.fromtimestamp(wait["since"]).astimezone().strftime("%Y-%m-%d %H:%M")
        text = f"The service has waited for {wait['for']} since {since}. {wait['why']}"
        found.append(Finding("service", "bad", text, FIXES.get(wait["for"], "See the chats below.")))
    return found
