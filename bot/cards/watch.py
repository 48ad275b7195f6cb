"""Describes watches (schedules that read one value) in words: what is read, and when it is reported."""

from __future__ import annotations

from agent.task_results import NumberValue, Value, YesNoValue
from bot.cards.formatting import shortened
from bot.domain.watch import Compare, Watch, value_text
from bot.texts import say

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
