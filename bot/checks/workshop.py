"""Whether shell and Python can be offered, and what to install."""

from __future__ import annotations

from agent.ports.workshop import Lack
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.texts import say
from bot.workshop.offer import look_for_workshop


async def findings(settings: Settings) -> list[Finding]:
    """One: a room was really tried. Tasks work without it, so what is lacking is no more than a note."""
    offer = await look_for_workshop(settings.workshop)
    if offer.lack is None:
        return [Finding("computer", "good", say("workshop.good"))]
    fix = "" if offer.lack is Lack.OFF else say(f"workshop.fix.{offer.lack.value}")
    return [Finding("computer", "note", say("workshop.none", why=say(f"workshop.lack.{offer.lack.value}")), fix)]
