"""The chat commands `when` and `triggers`, which create and manage triggers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.application.access import Refused
from bot.application.schedules import ScheduleCommands
from bot.application.services import Services
from bot.cards.buttons import ButtonAction, button
from bot.cards.formatting import shortened
from bot.commands.parser import draft_of, parse, with_skill
from bot.commands.request import Request, public_reply
from bot.commands.scheduling import change, wished_yes, yes_words
from bot.commands.skills import skill_draft
from bot.domain.outgoing import Button, Message, Reply
from bot.domain.schedule import Schedule
from bot.texts import say
from bot.triggers.wish import CHANGE, LIST, add_trigger, split_when, wish_of

LISTED: Final = 5
"""Triggers that one answer lists with buttons; Discord allows five rows."""
TEXT_SHOWN: Final = 80


async def when(request: Request, services: Services) -> Reply:
    """Store a trigger from the typed text: `PHONE gets a notification from APP`, then a `do` or `skill` command. Raises
    Refused, ParseError, NotAllowed and BadText.
    """
    example = f"{request.prefix}{say('command.when.example')}"
    found = split_when(request.call.rest.strip())
    wish = None if found is None else wish_of(found[0], quiet=request.option("quiet"), per_hour=request.option("limit"))
    if found is None or wish is None:
        raise Refused(say("trigger.form", example=example))
    wanted = with_skill(parse(found[1]), services.skills.found)
    inner = replace(wanted, options={**request.call.options, **wanted.options})
    draft = skill_draft(inner, services) if wanted.name == "skill" else draft_of(inner)
    yes, zone = wished_yes(request), request.option("zone")
    made = await add_trigger(request, services, wish, draft, zone=zone, yes=yes)
    told = "\n".join([say("trigger.made", trigger=made.id), *_lines(made)])
    return Reply(Message(body=told, buttons=(_buttons(made),)))


async def triggers(request: Request, services: Services) -> Reply:
    """List the triggers that this person may change here (for an admin, everybody's), or change one."""
    typed = request.call.rest.strip()
    commands = ScheduleCommands(request, services)
    if typed.casefold() in LIST:
        found = await commands.triggers()
        if not found:
            return public_reply(say("trigger.none", example=f"{request.prefix}{say('command.when.example')}"))
        lines = [f"{one.id} · {line}" for one in found for line in ["\n  ".join(_lines(one))]]
        return Reply(
            Message(heading=say("trigger.heading"), body="\n".join(lines), buttons=tuple(map(_buttons, found[:LISTED])))
        )
    asked = CHANGE.fullmatch(typed)
    if asked is None:
        raise Refused(say("trigger.usage", prefix=request.prefix))
    return public_reply(await change(commands, asked["verb"].lower(), asked["trigger"]))


def _lines(one: Schedule) -> list[str]:
    """The lines about a trigger: what starts it, what it does, and its limits."""
    plan = one.plan
    assert plan.trigger is not None
    limits = [say("trigger.per_hour", number=plan.trigger.per_hour)]
    if plan.trigger.quiet is not None:
        limits.append(say("trigger.quiet", hours=plan.trigger.quiet, zone=plan.rule.zone))
    if one.paused:
        limits.append(say("schedule.standing"))
    yes = [] if plan.standing is None else [yes_words(plan.standing)]
    return [f"{plan.words}: {shortened(plan.draft.text, TEXT_SHOWN)}", " · ".join(limits), *yes]


def _buttons(one: Schedule) -> tuple[Button, ...]:
    verbs = ["resume" if one.paused else "pause", *(["revoke"] if one.plan.standing is not None else []), "remove"]
    return tuple(
        button(
            ButtonAction.SCHEDULE,
            one.id,
            say(f"button.schedule.{verb}", schedule=one.id),
            choice=verb,
            style="danger" if verb == "remove" else "secondary",
        )
        for verb in verbs
    )
