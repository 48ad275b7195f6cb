"""Tasks, steps and phones as plain JSON objects, for the console and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent.models.base import Usage
from bot.schedules.model import Schedule
from bot.store.usage import UsageRow, UsageTotals
from bot.tasks.effects import effect_words
from bot.tasks.model import StepRow, Task
from devices.app_titles import readable
from devices.phone import PhoneInfo
from devices.wording import said

Json = dict[str, Any]


def tokens_json(usage: Usage) -> Json:
    """Tokens of a task or step; `cost` is null when the price is unknown."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
        "calls": usage.calls,
        "estimated": usage.estimated,
        "cost": usage.cost,
    }


def usage_json(row: UsageRow) -> Json:
    """What one day, person, phone or model has used."""
    return {"key": row.key, "label": row.label} | totals_json(row.totals)


def totals_json(totals: UsageTotals) -> Json:
    """A sum over tasks."""
    return {
        "tasks": totals.tasks,
        "steps": totals.steps,
        "seconds": totals.seconds,
        "tokens": tokens_json(totals.tokens),
        "unpriced": totals.unpriced,
        "voice": {"notes": totals.voice.notes, "seconds": totals.voice.seconds, "cost": totals.voice.cost},
    }


def schedule_json(one: Schedule) -> Json:
    """A schedule; times are Unix seconds."""
    plan = one.plan
    return {
        "schedule": one.id,
        "rule": plan.words,
        "zone": plan.rule.zone,
        "text": plan.text,
        "options": dict(plan.options),
        "person": plan.person.name or plan.person.id,
        "platform": plan.person.platform,
        "due": one.due,
        "paused": one.paused,
        "task": one.task,
    }


def task_json(task: Task) -> Json:
    """A task; times are Unix seconds."""
    return {
        "task": task.id,
        "state": task.state.value,
        "outcome": task.outcome.value if task.outcome else None,
        "text": task.text,
        "summary": task.summary,
        "data": task.data,
        "phone": task.phone,
        "phone_name": task.phone_name,
        "phones": task.parts or 1,
        "person": task.person.name or task.person.id,
        "platform": task.origin.platform,
        "quick": task.quick,
        "steps": task.steps,
        "max_steps": task.max_steps,
        "tokens": tokens_json(task.usage),
        "created": task.created,
        "started": task.started,
        "ended": task.ended,
        "frame": task.frame,
    }


def step_json(step: StepRow, names: Mapping[str, str]) -> Json:
    """A step of a run, for the replay. `names` are those of apps, by package."""
    return {
        "part": step.part,
        "phone": step.phone_name,
        "step": step.step,
        "max_steps": step.max_steps,
        "subtask": step.subtask,
        "summary": step.summary,
        "thought": step.thought,
        "action": step.action,
        "effect": effect_words(step.effect, names),
        "app": step.app,
        "app_name": step.app_shown,
        "frame": step.frame,
        "mark": list(step.mark) if step.mark else None,
        "tokens": tokens_json(step.usage),
        "seconds": step.seconds,
        "at": step.at,
    }


def phone_json(phone: PhoneInfo, tasks: Sequence[Task]) -> Json:
    """A phone. `tasks` are those that hold or want it, by id."""
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
        "tasks": [task.parent or task.id for task in tasks if task.phone == phone.id and task.outcome is None],
    }
