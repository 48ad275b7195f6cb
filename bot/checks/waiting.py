"""What a running service waits for, and what to do about it."""

from __future__ import annotations

from datetime import datetime

from bot.checks.finding import Finding

FIXES = {
    "store": "Make room on the disk, or end the program that holds the database.",
    "disk": "Make room, or set DATA_DIR to a larger disk.",
    "model": "Look at the endpoint; work goes on by itself when it answers.",
    "adb": "See the adb servers below; phones come back by themselves.",
    "phones": "See the phones below.",
}
"""What to do about what the service waits for; about a chat it is said with the chats."""


def waited(what: str, why: str, since: float) -> Finding:
    """One thing that is waited for, since a Unix time."""
    begun = datetime.fromtimestamp(since).astimezone().strftime("%Y-%m-%d %H:%M")
    text = f"The service has waited for {what} since {begun}. {why}"
    return Finding("service", "bad", text, FIXES.get(what, "See the chats below."))
