"""What one task may use up, what there is beyond that (a person's quota), and how it ends when it is used up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agent.error_mapping import Fault, FaultKind
from agent.models.base import Usage
from agent.outcome import Outcome
from agent.wording import sentence


class BudgetReached(Exception):
    """Time, tokens or money of the task are used up; `fault` says which."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.sentence)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """The limits of every task; None is no limit.

    What a person can only mend by allowing more (time, tokens, money) blocks the task; what shows that the agent does
    not get there (plans, sub-tasks, steps) fails it. `cost` is in the currency of the price table.
    """

    replans: int = 3
    subtasks: int = 20
    minutes: float | None = None
    tokens: int | None = None
    cost: float | None = None

    @property
    def seconds(self) -> float | None:
        """`minutes` in seconds."""
        return None if self.minutes is None else self.minutes * 60

    def reached(self, usage: Usage, seconds: float) -> Fault | None:
        """The budget that is used up, None while there is some of each left."""
        if self.seconds is not None and seconds >= self.seconds:
            return self.out_of_time()
        used = usage.input + usage.output
        if self.tokens is not None and used >= self.tokens:
            return _budget(sentence("limit.tokens", used=used, limit=self.tokens), "MAX_TOKENS")
        if self.cost is not None and usage.cost is not None and usage.cost >= self.cost:
            return _budget(sentence("limit.cost", used=f"{usage.cost:.4f}", limit=f"{self.cost:g}"), "MAX_COST")
        return None

    def out_of_time(self) -> Fault:
        """The fault of a task that was worked on for too long."""
        return _budget(sentence("limit.minutes", minutes=f"{self.minutes:g}"), "MAX_MINUTES")

    def too_many_replans(self) -> Fault:
        """The fault of a plan that was changed too often."""
        return _cap(sentence("limit.replans", number=self.replans))

    def too_many_subtasks(self) -> Fault:
        """The fault of a plan with no end."""
        return _cap(sentence("limit.subtasks", number=self.subtasks))


def too_many_steps(steps: int) -> Fault:
    """The fault of a plan whose parts have used up all steps."""
    return _cap(sentence("limit.steps", number=steps))


def _budget(happened: str, setting: str) -> Fault:
    then = sentence("limit.raise", setting=setting)
    return Fault(FaultKind.BUDGET, happened, sentence("limit.not_done"), then, Outcome.BLOCKED)


def _cap(happened: str) -> Fault:
    return Fault(FaultKind.MODEL, happened, sentence("limit.not_done"), sentence("limit.smaller"))


class Allowance(Protocol):
    """Asked before a task costs anything, when it gets its phone, and after each of its steps."""

    async def reached(self, task: str, steps: int, usage: Usage) -> Fault | None:
        """What is used up with so many steps and tokens of this task, None while there is some of everything left.

        Raises OSError when that cannot be found out.
        """
        ...
