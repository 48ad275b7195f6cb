"""The limits of a task, the interface of a person's quota, and how a task ends when one of them is used up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agent.error_mapping import Fault, FaultKind
from agent.models.base import Usage
from agent.run import Outcome
from agent.wording import sentence


class BudgetReached(Exception):
    """The task's time, tokens or money are used up; `fault` says which."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.sentence)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """The limits of every task; None means no limit.

    A task that runs out of time, tokens or money is blocked, because only a person can help by allowing more. One with
    too many plans, sub-tasks or steps fails, because the agent makes no progress. `cost` is in the currency of the
    price table.
    """

    replans: int = 3
    subtasks: int = 20
    minutes: float | None = None
    tokens: int | None = None
    cost: float | None = None

    @property
    def seconds(self) -> float | None:
        """The time limit in seconds."""
        return None if self.minutes is None else self.minutes * 60

    def reached_limit(self, usage: Usage, seconds: float) -> Fault | None:
        """Return the fault if the tokens, the cost or the seconds of work reach a limit; None if not."""
        if self.seconds is not None and seconds >= self.seconds:
            return self.out_of_time()
        used = usage.input + usage.output
        if self.tokens is not None and used >= self.tokens:
            return _budget(sentence("limit.tokens", used=used, limit=self.tokens), "MAX_TOKENS")
        if self.cost is not None and usage.cost is not None and usage.cost >= self.cost:
            return _budget(sentence("limit.cost", used=f"{usage.cost:.4f}", limit=f"{self.cost:g}"), "MAX_COST")
        return None

    def out_of_time(self) -> Fault:
        """Return the fault for a task that took too long."""
        return _budget(sentence("limit.minutes", minutes=f"{self.minutes:g}"), "MAX_MINUTES")

    def too_many_replans(self) -> Fault:
        """Return the fault for a plan that was changed too often."""
        return _cap(sentence("limit.replans", number=self.replans))

    def too_many_subtasks(self) -> Fault:
        """Return the fault for a plan with too many sub-tasks."""
        return _cap(sentence("limit.subtasks", number=self.subtasks))


def too_many_steps(steps: int) -> Fault:
    """Return the fault for a task whose sub-tasks have used up all `steps`."""
    return _cap(sentence("limit.steps", number=steps))


def _budget(happened: str, setting: str) -> Fault:
    then = sentence("limit.raise", setting=setting)
    return Fault(FaultKind.BUDGET, happened, sentence("limit.not_done"), then, Outcome.BLOCKED)


def _cap(happened: str) -> Fault:
    return Fault(FaultKind.MODEL, happened, sentence("limit.not_done"), sentence("limit.smaller"))


class Allowance(Protocol):
    """A person's quota. It is checked before a task costs anything, when it gets its phone, and after each step."""

    async def reached_limit(self, task: str, steps: int, usage: Usage) -> Fault | None:
        """Return the fault if the quota is used up after these steps and tokens of the task; None if not. Raises
        OSError if that cannot be determined.
        """
