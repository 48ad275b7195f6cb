"""The limits of the task service, and what has to let a task in before it is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.domain.task import Task
from bot.domain.task_request import TaskRequest
from bot.store.connection import Transaction


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What may take how long. The defaults are the product's."""

    max_live: int = 200
    """Tasks that live at once; more are refused."""
    approve: float = 15 * 60.0
    """An approval expires after that."""
    question: float = 24 * 3600.0
    """Any other question expires after that."""
    interrupted: float = 3600.0
    """An interrupted task that nobody resumes is over after that."""
    queued: float = 6 * 3600.0
    """A task that queued longer when the service starts is asked about first."""
    waited: float = 20.0
    """Whoever was told to wait and waited longer for a phone is told when the work begins."""
    patience: float = 0.8
    """How long a command waits for the agent: with what is written after that, a stop is over within a second."""
    goodbye: float = 5.0
    """How long an agent that did not end a cancelled task in time may still clean up."""
    drain: float = 15.0
    """How long the agent may take to come to a safe point when the service stops."""
    tick: float = 5.0
    """How often it is looked what has expired; the shortest of these times are minutes."""


class AdmissionCheck(Protocol):
    """Asked in the transaction that accepts a task: two tasks cannot both be the last one."""

    async def admit(self, transaction: Transaction, task: Task, request: TaskRequest) -> None:
        """Let the task in that was just written. Raises OverQuota; then nothing is kept of it."""
        ...
