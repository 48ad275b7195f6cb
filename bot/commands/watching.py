"""The command `watch`: creates a schedule that reads one value, and reports it only if a comparison in code
finds news.
"""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

from agent.models.base import PILOT
from agent.task_results import NumberValue, ResultSchema, YesNoValue, read_value, unit_of
from agent.watch_conditions import WatchForm, watch_form_by
from bot.application.access import Caller, Refused
from bot.application.schedules import ScheduleCommands
from bot.application.services import Services
from bot.cards.buttons import ButtonAction, button
from bot.cards.formatting import local_time, reads_words, told_words
from bot.commands.request import Request
from bot.commands.scheduling import planned
from bot.domain.outgoing import Message, Reply
from bot.domain.schedule import Plan, RuleKind, Schedule
from bot.domain.watch import QUOTES, Compare, Condition, Watch, split_watch, watch_of
from bot.texts import say


async def watch(request: Request, services: Services) -> Reply:
    """Show what would be watched: `every 30m do … and tell me when …`. It is stored as a paused schedule; the button
    approves exactly what is shown, because the schedule cannot be changed afterwards.
    """
    example = f"{request.prefix}{say('command.watch.example')}"
    found = split_watch(request.call.rest)
    if found is None:
        raise Refused(say("watch.no_condition", example=example))
    typed, words = found
    plan, due = await planned(request, services, typed, say("command.watch.example"))
    made = await add_watch(request, services, plan, due, words, example)
    return watch_kept(made, services)


async def add_watch(caller: Caller, services: Services, plan: Plan, due: float, words: str, example: str) -> Schedule:
    """Store a watch, paused, and return its schedule. `words` is the condition to report, as typed. Raises Refused; if
    the time comes only once, it shows the `example` of a valid text.
    """
    watched = watch_of(words)
    if services.reasoning is not None:
        form = await watch_form_by(services.reasoning(), plan.draft.text, words, watched.model_dump(mode="json"))
        watched = watched if form is None else watch_in_form(form)
    if plan.rule.kind is RuleKind.AT:
        raise Refused(say("watch.only_once", example=example))
    if "," in plan.draft.device:
        raise Refused(say("watch.one_phone"))
    return await ScheduleCommands(caller, services).add(replace(plan, watch=watched), due)


def watch_kept(made: Schedule, services: Services) -> Reply:
    """Return the reply that shows how a new watch was understood, with the button that starts it."""
    plan, watched = made.plan, made.plan.watch
    assert watched is not None
    zone = ZoneInfo(plan.rule.zone)
    lines = [
        say("watch.does", words=plan.words, zone=zone.key, text=made.plan.draft.text),
        say("watch.reads_line", what=reads_words(watched)),
        say("watch.told_line", when=told_words(watched)),
        *([say("watch.no_model")] if watched.result.type == "yes-no" and _has_no_model(services) else []),
        say("watch.next_line", time=local_time(made.due, zone)),
    ]
    buttons = (
        button(ButtonAction.SCHEDULE, made.id, say("button.watch.begin"), choice="resume", style="primary"),
        button(
            ButtonAction.SCHEDULE,
            made.id,
            say("button.schedule.remove", schedule=made.id),
            choice="remove",
            style="danger",
        ),
    )
    return Reply(Message(heading=say("watch.heading", schedule=made.id), body="\n".join(lines), buttons=(buttons,)))


def _has_no_model(services: Services) -> bool:
    """Whether only the offline pilot's rules could answer a question about a screen."""
    return services.reasoning is None or services.reasoning().name == PILOT


def watch_in_form(form: WatchForm) -> Watch:
    """Convert the form that a model filled in to a watch. Code has checked the form against the person's
    words before.
    """
    schema = ResultSchema(name=form.name, type=form.type, unit=unit_of(form.unit))
    inclusive = form.compare in {"at-most", "at-least"}
    compare = Compare({"at-most": "below", "at-least": "above"}.get(form.compare, form.compare))
    if compare is Compare.CHANGES:
        return Watch(result=schema, condition=Condition(compare=compare))
    if form.type == "list":
        return Watch(result=schema, condition=Condition(compare=compare, text=form.limit.strip(f" {QUOTES}")))
    match read_value(form.limit, ResultSchema(name=form.name, type=form.type)):
        case NumberValue(number=number, unit=unit):
            schema = schema.model_copy(update={"unit": schema.unit or unit})
            return Watch(result=schema, condition=Condition(compare=compare, limit=number, inclusive=inclusive))
        case YesNoValue(yes=yes):
            return Watch(result=schema, condition=Condition(compare=compare, yes=yes))
        case _:
            text = form.limit.strip(f" {QUOTES}")
            return Watch(result=schema, condition=Condition(compare=compare, text=text))
