"""verdicts: what the independent reader has found harmless, and forgetting it."""

from __future__ import annotations

from collections import Counter

from bot.application.access import Refused
from bot.application.services import Services
from bot.commands.request import Request, aside
from bot.domain.outgoing import Reply
from bot.texts import say

MOST_LINES = 30
"""Apps in one answer, those with the most controls first."""


async def verdicts(request: Request, services: Services) -> Reply:
    """How many controls of which app and version are not read again, by which model's word; or forget all of them."""
    match [word.lower() for word in request.call.rest.split()]:
        case []:
            kept = Counter((each.package, each.version, each.model) for each in services.readings.lasting())
            lines = [
                say("verdicts.line", count=count, app=app, version=version, model=model)
                for (app, version, model), count in kept.most_common(MOST_LINES)
            ]
            return aside("\n".join(lines) or say("verdicts.none"), heading=say("verdicts.heading"))
        case ["clear"]:
            await services.readings.clear()
            return aside(say("verdicts.cleared"))
    raise Refused(say("verdicts.usage", prefix=request.prefix))
