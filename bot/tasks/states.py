"""Which state may follow which, and the one function that changes a task's state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent.outcome import Outcome
from bot.tasks.errors import WrongState
from bot.tasks.model import Task, TaskState

TRANSITIONS: Mapping[TaskState, frozenset[TaskState]] = {
    # A question that needs no phone may come before the run has one; a task that queued too long is asked about.
    # One phone's part of a task that is paused does not begin when that phone is free.
    TaskState.QUEUED: frozenset(
        {TaskState.WORKING, TaskState.WAITING, TaskState.PAUSED, TaskState.INTERRUPTED, TaskState.ENDED}
    ),
    TaskState.WORKING: frozenset({TaskState.WAITING, TaskState.PAUSED, TaskState.INTERRUPTED, TaskState.ENDED}),
    # Back in its queue, when the question came before the run had a phone.
    TaskState.WAITING: frozenset({TaskState.WORKING, TaskState.QUEUED, TaskState.ENDED}),
    # A question that arrived while the pause was on its way is open when the pause ends.
    TaskState.PAUSED: frozenset({TaskState.WORKING, TaskState.WAITING, TaskState.QUEUED, TaskState.ENDED}),
    # One that never had a phone is queued again.
    TaskState.INTERRUPTED: frozenset({TaskState.WORKING, TaskState.QUEUED, TaskState.ENDED}),
    TaskState.ENDED: frozenset(),
}


def require(task: Task, to: TaskState) -> None:
    """Raises WrongState when `to` may not follow the task's state."""
    if to not in TRANSITIONS[task.state]:
        raise WrongState(task, to.value)


def moved(task: Task, to: TaskState, *, now: float, outcome: Outcome | None = None) -> Task:
    """The task in its next state; `outcome` is given exactly when it ends. Raises WrongState."""
    require(task, to)
    assert (outcome is not None) == (to is TaskState.ENDED)
    started = now if to is TaskState.WORKING and task.started is None else task.started
    ended = now if to is TaskState.ENDED else None
    return replace(task, state=to, outcome=outcome, started=started, ended=ended)
