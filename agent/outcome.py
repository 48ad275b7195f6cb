"""The ways in which a task can end."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Outcome(StrEnum):
    """The outcome of a task or sub-task."""

    SUCCEEDED = "succeeded"
    ANSWERED = "answered"
    """The task was answered in words, without any action, tool or team member."""
    UNVERIFIED = "unverified"
    DECLINED = "declined"
    """A person denied a necessary part of the task, so that part was not done."""
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"


class NeedsModel(BaseModel):
    """Why a task is blocked: it requires a model, and none is configured.

    `choices` are similar instructions that work without a model, the closest first; each would be a new task.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    choices: tuple[str, ...] = ()
