"""The command `watch`: a schedule that reads one value, and tells it only when code finds that there is news."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.cards.buttons import Deed, button
from bot.cards.watch import reads_words, told_words
from bot.commands.request import Refused, Request, Services
from bot.commands.scheduler import local_time
from bot.commands.scheduling import planned
from bot.domain.outgoing import Message, Reply
from bot.domain.schedule import RuleKind
from bot.domain.watch_words import split_watch
from bot.texts import say


async def watch(request: Request, services: Services) -> Reply:
    """Show what would be watched: `every 30m do … and tell me when …`. It is kept as a paused schedule, and its button
    is the person's yes to exactly that: nothing of it can be changed afterwards.
    """
    example = f"{request.prefix}{say('command.watch.example')}"
    found = split_watch(request.call.rest)
    if found is None:
        raise Refused(say("watch.no_condition", example=example))
    typed, watched = found
    plan, due = await planned(request, services, typed, say("command.watch.example"))
    if plan.rule.kind is RuleKind.AT:
        raise Refused(say("watch.only_once", example=example))
    device = plan.options.get("device", "")
    if "," in device:
        raise Refused(say("watch.one_phone"))
    made = await services.store.schedules.add(replace(plan, watch=watched), now=services.clock(), due=due)
    zone = ZoneInfo(plan.rule.zone)
    lines = [
        say("watch.does", words=plan.words, zone=zone.key, text=made.plan.text),
        say("watch.reads_line", what=reads_words(watched)),
        say("watch.told_line", when=told_words(watched)),
        say("watch.next_line", time=local_time(made.due, zone)),
    ]
    buttons = (
        button(Deed.SCHEDULE, made.id, say("button.watch.begin"), choice="resume", style="primary"),
        button(
            Deed.SCHEDULE, made.id, say("button.schedule.remove", schedule=made.id), choice="remove", style="danger"
        ),
    )
    return Reply(Message(heading=say("watch.heading", schedule=made.id), body="\n".join(lines), buttons=(buttons,)))
