"""Whether shell and Python can be offered, and what to install."""

from __future__ import annotations

from agent.ports.workshop import Lack
from bot.domain.finding import Finding
from bot.texts import say


def finding(lack: Lack | None) -> Finding:
    """What a look for the workshop has found. Tasks work without it, so what is lacking is no more than a note."""
    if lack is None:
        return Finding("computer", "good", say("workshop.good"))
    fix = "" if lack is Lack.OFF else say(f"workshop.fix.{lack.value}")
    return Finding("computer", "note", say("workshop.none", why=say(f"workshop.lack.{lack.value}")), fix)
