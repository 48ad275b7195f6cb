"""What a running service waits for, and what to do about it."""

from __future__ import annotations

from datetime import datetime

from bot.checks.finding import Finding
from bot.texts import say


def waited(what: str, why: str, since: float) -> Finding:
    """One thing that is waited for (a name of `bot.watching.sources`), since a Unix time. `why` is worded already."""
    begun = datetime.fromtimestamp(since).astimezone().strftime("%Y-%m-%d %H:%M")
    text = say("check.waits.since", what=say(f"check.waits.what.{what}"), time=begun, why=why)
    return Finding("service", "bad", text, say(f"check.waits.fix.{what}"))
