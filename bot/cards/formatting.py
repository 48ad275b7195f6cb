"""Formats times, counts, titles, outcomes and watches (schedules that read one value) for messages about tasks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from agent.captions import phrase
from agent.events import ModelAway, Source, Step, Told
from agent.models.base import Share, Usage
from agent.run import Outcome
from agent.task_results import NumberValue, Value, YesNoValue
from bot.domain.locale import money
from bot.domain.outgoing import Tone
from bot.domain.task import StepRow, Task, TaskState
from bot.domain.watch import Compare, Watch, value_text
from bot.texts import counted, say

TITLE_LIMIT = 60
"""Characters of a task's text where it only names the task."""
ACTION_WORDS = 10
ACTION_LIMIT = 90
"""Characters, for languages that write no blanks between words."""


def shortened(text: str, limit: int) -> str:
    """Return the text on one line, cut to `limit` characters with an ellipsis if it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def in_own_thread(task: Task) -> bool:
    """Return whether the task has a thread that was opened for it, whose name and card already say what it is."""
    return task.place is not None and bool(task.place.thread) and task.place != task.origin


def title_of(task: Task, *, titled: bool = False) -> str:
    """Return a task's number and the beginning of its text, such as "Task 12 · open settings"; for one phone's part,
    also the phone.

    With `titled` only the number, because the thread that it is shown in has the text as its title.
    """
    if titled:
        return say("card.number", task=task.called)
    title = say("card.title", task=task.called, text=shortened(task.text, TITLE_LIMIT))
    return f"{title} · {task.phone_name}" if task.parent else title


def action_line(summary: str) -> str:
    """Return a step's summary as a caption. The agent's own summaries are short; those from a host with another
    version are shortened.
    """
    if whole := phrase(summary):
        return whole
    words = summary.split()
    line = " ".join(words[:ACTION_WORDS]) + (" …" if len(words) > ACTION_WORDS else "")
    return shortened(line, ACTION_LIMIT)


def step_words(step: Step | StepRow) -> str:
    """Return what a step did, or that a person refused it."""
    caption = action_line(step.summary)
    return say("card.denied", what=caption) if step.denied else caption


SOURCES_SHOWN = 8
SOURCE_TITLE = 80


def source_lines(sources: Sequence[Source]) -> str:
    """Return the web pages that were read as lines below a result, at most `SOURCES_SHOWN` of them; "" if there are
    none.
    """
    if not sources:
        return ""
    pages = [f"- {shortened(page.title, SOURCE_TITLE)} {page.url}".replace("-  ", "- ") for page in sources]
    more = [say("todo.more", number=len(pages) - SOURCES_SHOWN)] if len(pages) > SOURCES_SHOWN else []
    return "\n".join([say("final.sources"), *pages[:SOURCES_SHOWN], *more])


def duration(seconds: float) -> str:
    """Return a time span in words, such as "42 s", "3 min 5 s", "15 min", "1 h 10 min" or "24 h"."""
    whole = max(0, int(seconds))
    if whole < 60:
        return say("time.seconds", seconds=whole)
    if whole < 3600 and not whole % 60:
        return say("time.about_minutes", minutes=whole // 60)
    if whole < 3600:
        return say("time.minutes", minutes=whole // 60, seconds=whole % 60)
    if not whole % 3600 // 60:
        return say("time.whole_hours", hours=whole // 3600)
    return say("time.hours", hours=whole // 3600, minutes=whole % 3600 // 60)


def about(seconds: float) -> str:
    """Return an estimated time span in whole minutes, such as "3 min"."""
    return say("time.about_minutes", minutes=max(1, round(seconds / 60)))


_SHOWN = {
    Outcome.SUCCEEDED: ("✅", Tone.DONE),
    Outcome.ANSWERED: ("💬", Tone.ANSWERED),
    Outcome.UNVERIFIED: ("☑️", Tone.UNVERIFIED),
    Outcome.DECLINED: ("✋", Tone.DECLINED),
    Outcome.BLOCKED: ("⛔", Tone.FAILED),
    Outcome.FAILED: ("❌", Tone.FAILED),
    Outcome.CANCELLED: ("⏹️", Tone.CANCELLED),
}
"""The symbol and the tone of each outcome."""


def outcome_line(outcome: Outcome) -> str:
    """Return how a task ended, beginning with a symbol."""
    return f"{_SHOWN[outcome][0]} {say(f'outcome.{outcome}')}"


def tone_of(task: Task) -> Tone:
    """Return the tone (the state as a colour) that matches the task's state."""
    if task.outcome is not None:
        return _SHOWN[task.outcome][1]
    waits = task.state in {TaskState.WAITING, TaskState.PAUSED, TaskState.INTERRUPTED}
    return Tone.WAITING if waits else Tone.WORKING


def tokens(usage: Usage) -> str:
    """Return the number of tokens and, if there is a price, the cost in words; "" when no model was called."""
    total = usage.input + usage.output
    if not total:
        return ""
    words = say("receipt.tokens_estimated" if usage.estimated else "receipt.tokens", number=_number(total))
    return words if usage.cost is None else f"{words} · {say('receipt.cost', cost=money(usage.cost))}"


def reader_share(usage: Usage) -> str:
    """Return what the guard model that checks button presses used, and how long presses waited for it, in words; ""
    for nothing.
    """
    if not usage.guard_tokens and not usage.guard_seconds:
        return ""
    words = say("receipt.reader", number=_number(usage.guard_tokens), seconds=f"{usage.guard_seconds:.1f}")
    return words if usage.guard_cost is None else f"{words}, {say('receipt.cost', cost=money(usage.guard_cost))}"


def by_role(usage: Usage) -> str:
    """Return the tokens that each role used of which model, in words; "" if one model did everything."""
    shares = [share for share in usage.shares if share.tokens]
    if len({share.model for share in shares}) < 2:
        return ""
    return " · ".join(map(_share, sorted(shares, key=lambda share: -share.tokens)))


def _share(share: Share) -> str:
    role = role_name(share.role)
    named = say("receipt.share", model=share.model, role=role) if share.model else role
    if share.cost is None:
        return say("receipt.taken", name=named, number=_number(share.tokens))
    return say("receipt.taken_for", name=named, number=_number(share.tokens), cost=money(share.cost))


def role_name(role: str) -> str:
    """Return the name of a role for people. A member of the team is shown by its own name."""
    return say(f"role.{role or 'unknown'}") if role in _ROLES else role


_ROLES = frozenset({"", "vision", "basic", "reasoning", "guard"})


def _number(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else str(tokens)


def status_words(status: Told | ModelAway | None, zone: tzinfo) -> str:
    """Return what a task is waiting for, or which model stands in for the usual one, in words; "" for nothing.

    If it waits for a model, the words include until when, in the time zone `zone`.
    """
    if isinstance(status, Told):
        return status.text
    if status is not None and status.stand_in:
        return say("card.model_stands_in", why=say(f"waits.model.{status.cause}"), model=status.stand_in)
    if status is None or status.until is None:
        return ""
    time = f"{datetime.fromtimestamp(status.until, zone):%H:%M}"
    return say("card.model_away", why=say(f"waits.model.{status.cause}"), time=time)


def local_time(moment: float, zone: ZoneInfo) -> str:
    """Return a Unix time in a time zone as people write it, such as "Thu 2026-12-24 18:00"."""
    local = datetime.fromtimestamp(moment, zone)
    return f"{say(f'weekday.{local.weekday()}')} {local:%Y-%m-%d %H:%M}"


def elapsed(task: Task, now: float) -> float:
    """Return the seconds since the task began (pauses count too), or since it was given if it has not begun; until its
    end if it has ended. `now` is in Unix seconds.
    """
    return (task.ended if task.ended is not None else now) - (task.started or task.created)


def receipt(task: Task, now: float) -> str:
    """Return the steps, time, tokens and cost of a task in one line, including those of the guard model."""
    usage = task.usage
    parts = (counted("step", task.steps), duration(elapsed(task, now)), tokens(usage), reader_share(usage))
    return " · ".join(part for part in parts if part)


VALUE_SHOWN = 300
"""Maximum characters of a value; a list may be long."""


def value_words(value: Value) -> str:
    """Return a value in the words that its person reads, shortened to `VALUE_SHOWN` characters."""
    if isinstance(value, YesNoValue):
        return say("watch.answer.yes" if value.yes else "watch.answer.no")
    return shortened(value_text(value), VALUE_SHOWN)


def reads_words(watch: Watch) -> str:
    """Return what a watch (a schedule that reads one value) reads at each run, in words such as "price: one number in
    $".
    """
    kind = watch.result.type.replace("-", "_")
    if watch.result.unit:
        return say("watch.reads_in", name=watch.result.name, unit=watch.result.unit)
    return say(f"watch.reads.{kind}", name=watch.result.name)


def told_words(watch: Watch) -> str:
    """Return when a watch (a schedule that reads one value) reports, in words such as "it is below 50 $"."""
    condition = watch.condition
    if condition.compare is Compare.CHANGES:
        return say("watch.when.changes")
    limit = condition.text
    if condition.limit is not None:
        limit = value_words(NumberValue(number=condition.limit, unit=watch.result.unit))
    elif condition.yes is not None:
        limit = say("watch.answer.yes" if condition.yes else "watch.answer.no")
    inclusive = "_or" if condition.inclusive else ""
    return say(f"watch.when.{condition.compare}{inclusive}", limit=limit)


def watch_line(watch: Watch) -> str:
    """Return one line that describes a watch (a schedule that reads one value): what it reads, and when it reports."""
    return say("watch.line", name=watch.result.name, when=told_words(watch))
