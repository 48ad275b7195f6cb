"""The commands `schedule`, `schedules` and `watch`, which create and manage schedules. Some have a standing approval:
one message to one recipient that their runs may send without asking.

Only a person who may approve on every phone of the schedule can give it, and it is valid only as long as they may.
"""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

from agent.models.base import PILOT
from agent.questions import MAX_NAME, StandingYes
from agent.task_results import NumberValue, ResultSchema, YesNoValue, read_value, unit_of
from agent.watch_conditions import WatchForm, watch_form_by
from bot.application.access import Caller, Refused
from bot.application.schedules import ScheduleCommands
from bot.application.services import Services
from bot.cards.buttons import ButtonAction, ButtonData, button
from bot.cards.formatting import local_time, reads_words, shortened, told_words, value_words, watch_line
from bot.commands.parser import LIST_WORDS, SCHEDULE_CHANGE, draft_of, parse, with_skill
from bot.commands.request import Request, public_reply
from bot.commands.skills import skill_draft
from bot.domain.outgoing import Button, Message, Reply
from bot.domain.schedule import BadRule, Plan, RuleKind, Schedule, oddity_of, plan_in
from bot.domain.watch import QUOTES, Compare, Condition, Watch, split_watch, watch_of
from bot.tasks.input import MAX_TEXT, clean
from bot.texts import listed, say


def wished_yes(request: Request) -> StandingYes | None:
    """Return the standing approval that a command's options describe; None if there is none. Raises Refused if it is
    incomplete or names too long a recipient or app, and BadText for too long a text.
    """
    to, text, app = (request.option(name).strip() for name in ("allow-to", "allow-text", "allow-in"))
    if not (to or text or app):
        return None
    if not to or not text:
        raise Refused(say("schedule.yes_needs_both"))
    if len(to) > MAX_NAME or len(app) > MAX_TEXT:
        raise Refused(say("schedule.yes_long", number=MAX_NAME))
    by = request.person.name or request.person.id
    return StandingYes(to=clean(to, say("schedule.yes_to")), app=app, text=clean(text, say("schedule.yes_text")), by=by)


def yes_words(yes: StandingYes) -> str:
    """Return one line that describes the standing approval."""
    text = " ".join((yes.text or "").split())
    if yes.app:
        return say("schedule.yes_in", to=yes.to, text=text, app=yes.app, by=yes.by)
    return say("schedule.yes", to=yes.to, text=text, by=yes.by)


LISTED = 5
"""Maximum schedules that one answer lists: each has a row of buttons, and Discord has five rows."""
TEXT_SHOWN = 80
"""Maximum characters of a task in the list."""


async def schedule(request: Request, services: Services) -> Reply:
    """Create a schedule from the typed text: a time (`at`, `every` or `cron`), then a `do` or `skill` command. Also
    accepts `list` and the changes that `schedules` makes.
    """
    typed = request.call.rest.strip()
    if typed.casefold() in LIST_WORDS or SCHEDULE_CHANGE.fullmatch(typed) is not None:
        return await schedules(request, services)
    plan, due = await planned(request, services, typed, say("command.schedule.example"))
    return plan_kept(await ScheduleCommands(request, services).add(plan, due))


def plan_kept(schedule: Schedule) -> Reply:
    """Return the reply that confirms a new schedule."""
    zone = ZoneInfo(schedule.plan.rule.zone)
    time = local_time(schedule.due, zone)
    lines = [say("schedule.made", schedule=schedule.id, words=schedule.plan.words, zone=zone.key, time=time)]
    if schedule.plan.standing is not None:
        lines.append(yes_words(schedule.plan.standing))
    if (odd := oddity_of(schedule.plan.rule)) is not None:
        lines.append(say(f"schedule.odd.{odd}", time=time))
    return Reply(Message(body="\n".join(lines), buttons=(_buttons(schedule),)))


async def planned(request: Request, services: Services, typed: str, example: str) -> tuple[Plan, float]:
    """Parse a text such as `every 30m do …`. Returns the plan, and its first due time in Unix seconds. Raises Refused,
    with the `example` of a valid text if the form or the rule is wrong, and ParseError.
    """
    example = f"{request.prefix}{example}"
    found = plan_in(typed)
    if found is None:
        raise Refused(say("schedule.bad.form", example=example))
    when, typed_do = found
    wanted = with_skill(parse(typed_do), services.skills.found)
    inner = replace(wanted, options={**request.call.options, **wanted.options})
    draft = skill_draft(inner, services) if wanted.name == "skill" else draft_of(inner)
    try:
        return await ScheduleCommands(request, services).plan(
            when, draft, zone=request.option("zone"), yes=wished_yes(request)
        )
    except BadRule as bad:
        raise bad_rule(bad, example) from bad


def bad_rule(bad: BadRule, example: str) -> Refused:
    """Return the refusal for words that are not a valid time rule. It says why, and shows the `example` of a
    valid one.
    """
    return Refused(say(f"schedule.bad.{bad.why}", example=example))


async def schedules(request: Request, services: Services) -> Reply:
    """List the schedules that this person may change here (for an admin: everybody's), or change one."""
    typed = request.call.rest.strip()
    if not typed or typed.casefold() in LIST_WORDS:
        return await _listed(request, services)
    found = SCHEDULE_CHANGE.fullmatch(typed)
    if found is None:
        raise Refused(say("schedule.usage", prefix=request.prefix))
    return public_reply(await change(ScheduleCommands(request, services), found["verb"].lower(), found["schedule"]))


async def press(data: ButtonData, request: Request, services: Services) -> Reply:
    """Handle a button of the list of schedules, or below a new schedule."""
    return public_reply(await change(ScheduleCommands(request, services), data.choice, data.subject))


async def change(commands: ScheduleCommands, verb: str, number: str) -> str:
    """Pause, resume or remove a schedule, or ("revoke") withdraw its standing approval, as `verb` says. Returns the
    sentence that confirms it. Raises Refused.
    """
    match verb:
        case "remove":
            one = await commands.remove(number)
            return _changed(one, "removed", say("schedule.removed", schedule=one.id))
        case "revoke":
            one = await commands.revoke(number)
            return _changed(one, "revoked", say("schedule.revoked", schedule=one.id))
        case "pause":
            one = await commands.pause(number)
            return _changed(one, "paused", say("schedule.paused", schedule=one.id))
        case "resume":
            return resumed_words(await commands.resume(number))
        case _:
            raise Refused(say("press.unknown"))


def _changed(one: Schedule, what: str, words: str) -> str:
    """The answer about a change: these words, unless it is a trigger."""
    return words if one.plan.is_timed else say(f"trigger.changed.{what}", trigger=one.id)


def resumed_words(one: Schedule) -> str:
    """Return a sentence that says that the schedule is active again and, if it runs at set times, when it is due."""
    time = local_time(one.due, ZoneInfo(one.plan.rule.zone)) if one.plan.is_timed else ""
    words = say("schedule.resumed" if one.plan.watch is None else "watch.on", schedule=one.id, time=time)
    return _changed(one, "resumed", words)


async def _listed(request: Request, services: Services) -> Reply:
    found = await ScheduleCommands(request, services).visible()
    if not found:
        return public_reply(say("schedule.none", example=f"{request.prefix}{say('command.schedule.example')}"))
    lines = [_line(one, admin_sees=not services.policy.same(one.plan.person, request.person)) for one in found[:LISTED]]
    if len(found) > LISTED:
        lines.append(say("schedule.more", number=len(found) - LISTED))
        lines.append(listed(say("schedule.short", schedule=one.id, words=one.plan.words) for one in found[LISTED:]))
    rows = tuple(_buttons(one) for one in found[:LISTED])
    return Reply(Message(heading=say("schedule.heading"), body="\n".join(lines), buttons=rows))


def _line(one: Schedule, *, admin_sees: bool) -> str:
    plan = one.plan
    standing = say("schedule.standing") if one.paused else _next(one)
    who = f" · {plan.person.name or plan.person.id}" if admin_sees else ""
    words = say("schedule.line", schedule=one.id, words=plan.words, text=shortened(plan.draft.text, TEXT_SHOWN))
    yes = "" if plan.standing is None else f"\n  {yes_words(plan.standing)}"
    last = "" if one.readings.last is None else f" · {say('watch.last', value=value_words(one.readings.last))}"
    watched = "" if plan.watch is None else f"\n  {watch_line(plan.watch)}{last}"
    return f"{words}\n  {standing}{who}{yes}{watched}"


def _next(one: Schedule) -> str:
    zone = ZoneInfo(one.plan.rule.zone)
    return say("schedule.next", time=local_time(one.due, zone), zone=zone.key)


def _buttons(one: Schedule) -> tuple[Button, ...]:
    revoke = ("revoke",) if one.plan.standing is not None else ()
    return tuple(_button(one, verb) for verb in ("resume" if one.paused else "pause", *revoke, "remove"))


def _button(one: Schedule, verb: str) -> Button:
    words, style = say(f"button.schedule.{verb}", schedule=one.id), "danger" if verb == "remove" else "secondary"
    return button(ButtonAction.SCHEDULE, one.id, words, choice=verb, style=style)


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


def watch_kept(schedule: Schedule, services: Services) -> Reply:
    """Return the reply that shows how a new watch was understood, with the button that starts it."""
    plan, watched = schedule.plan, schedule.plan.watch
    assert watched is not None
    zone = ZoneInfo(plan.rule.zone)
    lines = [
        say("watch.does", words=plan.words, zone=zone.key, text=schedule.plan.draft.text),
        say("watch.reads_line", what=reads_words(watched)),
        say("watch.told_line", when=told_words(watched)),
        *([say("watch.no_model")] if watched.result.type == "yes-no" and _has_no_model(services) else []),
        say("watch.next_line", time=local_time(schedule.due, zone)),
    ]
    buttons = (
        button(ButtonAction.SCHEDULE, schedule.id, say("button.watch.begin"), choice="resume", style="primary"),
        _button(schedule, "remove"),
    )
    return Reply(Message(heading=say("watch.heading", schedule=schedule.id), body="\n".join(lines), buttons=(buttons,)))


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
    value = None if form.type == "list" else read_value(form.limit, ResultSchema(name=form.name, type=form.type))
    match value:
        case NumberValue(number=number, unit=unit):
            schema = schema.model_copy(update={"unit": schema.unit or unit})
            condition = Condition(compare=compare, limit=number, inclusive=inclusive)
        case YesNoValue(yes=yes):
            condition = Condition(compare=compare, yes=yes)
        case _:
            condition = Condition(compare=compare, text=form.limit.strip(f" {QUOTES}"))
    return Watch(result=schema, condition=condition)
