"""Converts tasks, steps, phones and the state of the model to plain JSON objects and text, for the console and the
command line, the same way everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, assert_never

from agent import effect_facts as fact
from agent.error_mapping import remedy
from agent.models.base import Usage
from agent.models.state import ModelState, ModelStatus
from bot.domain.schedule import Schedule
from bot.domain.task import StepRow, Task
from bot.domain.task_request import TaskDraft
from bot.store.totals import UsageRow, UsageTotals
from bot.texts import say
from devices.names import readable
from devices.wording import said

if TYPE_CHECKING:
    from devices.phone import PhoneInfo


def effect_words(effects: Sequence[fact.Effect], names: Mapping[str, str]) -> str:
    """Describe the effects of a step (what it changed on the phone) in the current language. `names` maps packages to
    names of apps.
    """
    changes = [_change(effect, names) for effect in effects]
    return reduce(lambda before, change: say("changes.next", before=before, change=change), changes or [""])


def _change(effect: fact.Effect, names: Mapping[str, str]) -> str:
    match effect:
        case fact.AppChanged(app=app):
            return say("effect.app", app=names.get(app) or readable(app or "unknown"))
        case fact.PageChanged():
            return say("effect.page")
        case fact.Appeared(words=words, more=0):
            return say("effect.appeared", words=_row(words))
        case fact.Appeared(words=words, more=more):
            return say("effect.appeared_more", words=_row(words), number=more)
        case fact.Disappeared(words=words, more=0):
            return say("effect.vanished", words=_row(words))
        case fact.Disappeared(words=words, more=more):
            return say("effect.vanished_more", words=_row(words), number=more)
        case fact.KeyboardOpened():
            return say("effect.keyboard_opened")
        case fact.KeyboardClosed():
            return say("effect.keyboard_closed")
        case fact.ScreenTurned():
            return say("effect.turned")
        case fact.SwitchedTo(name=name, on=on):
            return say("effect.on" if on else "effect.off", name=_row([name]))
        case fact.ScreenChanged():
            return say("effect.changed")
        case fact.NothingChanged():
            return say("effect.nothing")
        case fact.TextNow(text=text):
            return say("effect.reads", text=_row([text]))
        case fact.PhoneNote() | fact.Worded():
            return said(effect.words)
        case fact.LookedBefore(milliseconds=milliseconds):
            return say("effect.looked_before", milliseconds=milliseconds)
        case fact.OtherWindow(window=window):
            return say("effect.other_window", window=window)
        case fact.EffectUnseen():
            return say("effect.unseen")
        case fact.CameTrue(seconds=seconds):
            return say("effect.so", seconds=f"{seconds:.1f}")
        case fact.NotWithin(seconds=seconds):
            return say("effect.not_so", seconds=f"{seconds:g}")
        case fact.FileSent(name=name, size=size):
            return say("effect.file", name=name, size=size)
        case fact.Answered(text=text):
            return say("effect.answer", text=text)
        case fact.DoneByHand():
            return say("effect.by_hand")
        case fact.NotAllowed():
            return say("effect.not_allowed")
        case fact.AllowedAhead(to=to, by=by, schedule=""):
            return say("effect.allowed_for_task", to=to, by=by)
        case fact.AllowedAhead(to=to, by=by, schedule=schedule):
            return say("effect.allowed_by_schedule", to=to, by=by, schedule=schedule)
        case fact.DeniedBefore(tries=tries):
            return say("effect.denied_before", tries=tries)
        case fact.PlainText(text=text):
            return text
        case _:
            assert_never(effect)


def _row(words: Iterable[str]) -> str:
    quoted = (say("changes.word", text=word) for word in words)
    return reduce(lambda before, word: say("changes.word_next", before=before, word=word), quoted)


Json = dict[str, Any]


def tokens_json(usage: Usage) -> Json:
    """Convert the tokens that a task or step used to JSON, in total and by role and model; `cost` is null if the price
    is unknown.
    """
    return {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
        "calls": usage.calls,
        "estimated": usage.estimated,
        "cost": usage.cost,
        "guard": {"tokens": usage.guard_tokens, "seconds": usage.guard_seconds, "cost": usage.guard_cost},
        "shares": [asdict(share) for share in usage.shares],
    }


def usage_json(row: UsageRow) -> Json:
    """Convert the usage of one day, person, phone, role or model to JSON."""
    return {"key": row.key, "label": row.label} | totals_json(row.totals)


def totals_json(totals: UsageTotals) -> Json:
    """Convert the total usage of several tasks to JSON."""
    return {
        "tasks": totals.tasks,
        "steps": totals.steps,
        "seconds": totals.seconds,
        "tokens": tokens_json(totals.tokens),
        "unpriced": totals.unpriced,
        "voice": {"notes": totals.voice.notes, "seconds": totals.voice.seconds, "cost": totals.voice.cost},
    }


def options_of(draft: TaskDraft) -> Json:
    """Return as JSON what was set for a task: its phones, its options that are not the default, and its skill."""
    skill = {} if draft.skill is None else {"skill": draft.skill.name, "arguments": dict(draft.skill.arguments)}
    device = {"device": draft.device} if draft.device else {}
    return {**device, **draft.options.model_dump(exclude_defaults=True), **skill}


def schedule_json(one: Schedule) -> Json:
    """Convert a schedule to JSON; times are Unix seconds."""
    plan = one.plan
    return {
        "schedule": one.id,
        "rule": plan.words,
        "zone": plan.rule.zone,
        "text": plan.draft.text,
        "options": options_of(plan.draft),
        "allowed": None if plan.standing is None else plan.standing.model_dump(exclude={"schedule"}),
        "person": plan.person.name or plan.person.id,
        "platform": plan.person.platform,
        "due": one.due,
        "paused": one.paused,
        "task": one.task,
        "watch": None if plan.watch is None else plan.watch.model_dump(mode="json"),
        "last": None if one.readings.last is None else one.readings.last.model_dump(mode="json"),
    }


def task_json(task: Task) -> Json:
    """Convert a task to JSON; times are Unix seconds."""
    return {
        "task": task.id,
        "state": task.state.value,
        "outcome": task.outcome.value if task.outcome else None,
        "text": task.text,
        "summary": task.summary,
        "data": task.data,
        "sources": [source.model_dump() for source in task.sources],
        "needs_model": None if task.needs_model is None else task.needs_model.model_dump(mode="json"),
        "files": [file.model_dump() for file in task.request.files],
        "phone": task.phone,
        "phone_name": task.phone_name,
        "phones": task.parts or 1,
        "person": task.person.name or task.person.id,
        "platform": task.origin.platform,
        "quick": task.request.options.quick,
        "steps": task.steps,
        "max_steps": task.request.max_steps,
        "tokens": tokens_json(task.usage),
        "created": task.created,
        "started": task.started,
        "ended": task.ended,
        "frame": task.frame,
    }


def step_json(step: StepRow, names: Mapping[str, str]) -> Json:
    """Convert a step of a task to JSON, for the replay. `names` maps packages to names of apps."""
    return {
        "part": step.part,
        "phone": step.phone_name,
        "step": step.step,
        "max_steps": step.max_steps,
        "subtask": step.subtask,
        "summary": step.summary,
        "thought": step.thought,
        "action": step.action,
        "target": step.target,
        "effect": effect_words(step.effect, names),
        "denied": step.denied,
        "app": step.app,
        "app_name": step.app_shown,
        "frame": step.frame,
        "mark": list(step.mark) if step.mark else None,
        "tokens": tokens_json(step.usage),
        "seconds": step.seconds,
        "at": step.at,
    }


def phone_json(phone: PhoneInfo, tasks: Sequence[Task]) -> Json:
    """Convert a phone to JSON. `tasks` are the unfinished ones, which may use or wait for it."""
    return {
        "id": phone.id,
        "serial": phone.serial,
        "name": phone.name,
        "state": phone.health.value,
        "usable": phone.health.usable,
        "reason": said(phone.reason),
        "fix": said(phone.fix),
        "model": phone.model,
        "android": phone.android,
        "size": [phone.size.width, phone.size.height] if phone.size else None,
        "battery": phone.battery,
        "app": phone.app,
        "app_name": phone.app_name or readable(phone.app),
        "virtual": phone.virtual,
        "lane": phone.lane,
        "lane_reason": said(phone.lane_reason),
        "pictures": phone.pictures,
        "host": phone.host,
        "tasks": [task.parent or task.id for task in tasks if task.phone == phone.id and task.outcome is None],
    }


_TODAY: Final = timedelta(hours=20)
"""Age up to which the time of day is enough."""


def state_words(state: ModelState) -> str:
    """Return the state in a few words, such as "no credit since 11:04"."""
    if state.status is not ModelStatus.FAILING:
        return say(f"model.status.{state.status}")
    failing = say(f"model.failing.{state.cause}", time=_time(state.since))
    return say("model.finding.stood_in", state=failing, model=state.stand_in) if state.stand_in else failing


def model_json(state: ModelState) -> Json:
    """Return the state as JSON, with `text` and `remedy` in the current language."""
    return {
        "status": state.status.value,
        "model": state.model,
        "cause": None if state.cause is None else state.cause.value,
        "since": state.since,
        "stand_in": state.stand_in,
        "text": state_words(state),
        "remedy": "" if state.cause is None else remedy(state.cause),
    }


def _time(since: float | None) -> str:
    begun = datetime.fromtimestamp(since or 0.0).astimezone()
    recent = datetime.now().astimezone() - begun < _TODAY
    return f"{begun:%H:%M}" if recent else f"{begun:%Y-%m-%d %H:%M}"
