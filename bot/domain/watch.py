"""A watch: a schedule that reads one value, and reports it to its person only when it matters.

Code judges the values, which have a fixed form; what a model says about them does not count. The rules:

- a condition such as "below 50" is reported when a reading meets it, even the first, and again only after two
  readings in a row have not met it;
- a change is reported at once; a return to the previous value is reported once it was read twice in a row;
- a missing value is reported once, when two readings in a row found none, and again only after a value was found.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Final, assert_never

from pydantic import BaseModel, ConfigDict

from agent.task_results import ListValue, NumberValue, ResultSchema, TextValue, Value, YesNoValue, folded, same

AWAY: Final = 2
"""Readings in a row that must fail a condition before meeting it is reported again."""
MISSES: Final = 2
"""Readings in a row without a value before that is reported."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Compare(StrEnum):
    """How the value that was read is compared with the value in the condition."""

    CHANGES = "changes"
    BELOW = "below"
    ABOVE = "above"
    CONTAINS = "contains"
    BECOMES = "becomes"


class Condition(_Frozen):
    """When a watch (a schedule that reads one value) reports. Depending on the comparison, one of `limit`, `text` and
    `yes` is set; none of them for "changes".
    """

    compare: Compare
    limit: Decimal | None = None
    inclusive: bool = False
    """Whether the limit itself is below, or above: "50 or less"."""
    text: str = ""
    yes: bool | None = None


class Watch(_Frozen):
    """A watch, a schedule that reads one value: what it reads at each run (`result`), and when it reports
    (`condition`).
    """

    result: ResultSchema
    condition: Condition


class Finding(StrEnum):
    """The kinds of results when one reading is judged: nothing to report, the condition met, a change, or no value
    found.
    """

    SILENT = "silent"
    MET = "met"
    CHANGED = "changed"
    LOST = "lost"
    """No value was found, several times in a row."""


class Verdict(_Frozen):
    """The result of one reading.

    - `value`: The value that was read; None if none was found.
    - `before`: For a change, the value that the person knew before: the last reported one, or the first one read.
    """

    finding: Finding
    value: Value | None = None
    before: Value | None = None


class WatchState(_Frozen):
    """What is stored about the earlier readings of a watch (a schedule that reads one value)."""

    last: Value | None = None
    """The value that was read last."""
    read: float | None = None
    """When it was read, in Unix seconds."""
    told: Value | None = None
    """The value that the person knows: the first one read, then each that was reported as a change."""
    before: Value | None = None
    """The value that the person knew before that."""
    away: int = AWAY
    """How many readings in a row did not meet the condition."""
    met: bool = False
    """Whether the condition was reported as met and has not been unmet for `AWAY` readings in a row since."""
    misses: int = 0
    """How many readings in a row found no value."""


class TaskWatch(_Frozen):
    """The watch (a schedule that reads one value) for which a task makes one reading; `schedule` is the schedule's
    number.
    """

    schedule: str
    watch: Watch


def judge(watch: Watch, state: WatchState, value: Value | None, now: float) -> tuple[Verdict, WatchState]:
    """Decide whether a reading of a watch is reported. Returns the verdict and the watch's new state.

    `value` is None if none was found; `now` is in Unix seconds. The rules are those in the module's docstring.
    """
    if value is None:
        misses = state.misses + 1
        finding = Finding.LOST if misses == MISSES else Finding.SILENT
        return Verdict(finding=finding), state.model_copy(update={"misses": misses})
    state = state.model_copy(update={"misses": 0})
    after = state.model_copy(update={"last": value, "read": now})
    if watch.condition.compare is Compare.CHANGES:
        return _change(state, after, value)
    if is_met(watch.condition, value):
        finding = Finding.SILENT if state.met else Finding.MET
        return Verdict(finding=finding, value=value), after.model_copy(update={"met": True, "away": 0})
    away = min(AWAY, state.away + 1)
    kept = after.model_copy(update={"away": away, "met": state.met and away < AWAY})
    return Verdict(finding=Finding.SILENT, value=value), kept


def _change(state: WatchState, after: WatchState, value: Value) -> tuple[Verdict, WatchState]:
    silent = Verdict(finding=Finding.SILENT, value=value)
    if state.told is None:
        return silent, after.model_copy(update={"told": value})
    if same(value, state.told):
        return silent, after
    goes_back = state.before is not None and same(value, state.before)
    if goes_back and not (state.last is not None and same(value, state.last)):
        return silent, after
    told = after.model_copy(update={"told": value, "before": state.told})
    return Verdict(finding=Finding.CHANGED, value=value, before=state.told), told


def is_met(condition: Condition, value: Value) -> bool:
    """Return whether a value that was read meets a condition; always False for "changes" and for a value of the wrong
    type.
    """
    match condition.compare, value:
        case Compare.BELOW | Compare.ABOVE, NumberValue(number=number) if number == condition.limit:
            return condition.inclusive
        case Compare.BELOW, NumberValue(number=number) if condition.limit is not None:
            return number < condition.limit
        case Compare.ABOVE, NumberValue(number=number) if condition.limit is not None:
            return number > condition.limit
        case Compare.BECOMES, NumberValue(number=number):
            return number == condition.limit
        case Compare.BECOMES, TextValue(text=text):
            return folded(text) == folded(condition.text)
        case Compare.BECOMES, YesNoValue(yes=yes):
            return yes is condition.yes
        case Compare.CONTAINS, TextValue(text=text):
            return folded(condition.text) in folded(text)
        case Compare.CONTAINS, ListValue(items=items):
            return any(folded(condition.text) in folded(item) for item in items)
        case _:
            return False


def value_text(value: Value) -> str:
    """Return a value as text for people; booleans become "yes" and "no", which the caller may translate."""
    match value:
        case NumberValue(number=number, unit=unit):
            plain = f"{number:f}"
            return f"{plain} {unit}" if unit else plain
        case TextValue(text=text):
            return text
        case YesNoValue(yes=yes):
            return "yes" if yes else "no"
        case ListValue(items=items):
            return "\n".join(items)
        case _:
            assert_never(value)
