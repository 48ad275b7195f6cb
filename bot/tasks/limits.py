"""The limits of the task service, and the check that a task must pass to be accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.domain.task import Task
from bot.domain.task_request import TaskRequest
from bot.store.connection import Transaction


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Time limits and counts of the task service. The service uses the defaults."""

    max_live: int = 200
    """Maximum unfinished tasks; further ones are refused."""
    approve: float = 15 * 60.0
    """Seconds until an approval expires."""
    question: float = 24 * 3600.0
    """Seconds until any other question expires."""
    interrupted: float = 3600.0
    """Seconds until an interrupted task ends if it is not resumed."""
    queued: float = 6 * 3600.0
    """Seconds in the queue after which a task needs a confirmation when the service starts."""
    waited: float = 20.0
    """Seconds of waiting for a phone after which the person gets a message when the work begins."""
    patience: float = 0.8
    """Seconds a command waits for the agent: with what is written after that, a cancelled task ends within a second."""
    goodbye: float = 5.0
    """Seconds an agent that did not end a cancelled task in time may still clean up."""
    drain: float = 15.0
    """Seconds the agent may take to reach a safe point when the service stops."""
    tick: float = 5.0
    """Seconds between checks for what has expired; the shortest expiry is minutes."""


class AdmissionCheck(Protocol):
    """A check that runs in the transaction that accepts a task, so that two tasks cannot both use the last of
    a quota.
    """

    async def admit(self, transaction: Transaction, task: Task, request: TaskRequest) -> None:
        """Check the task that was just written. Raises OverQuota, which undoes the transaction."""
        ...
