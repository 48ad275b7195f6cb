"""How a task can end."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Outcome(StrEnum):
    """The honest endings."""

    SUCCEEDED = "succeeded"
    ANSWERED = "answered"
    """A reply, for which no action, no tool and no member was used."""
    UNVERIFIED = "unverified"
    DECLINED = "declined"
    """A person did not allow something that belongs to it, and so that was not done."""
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"


class NeedsModel(BaseModel):
    """What blocks a task that takes a model, where none is set.

    `choices` are instructions near to it that can be followed without a model, the nearest first; each would be a task
    of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    choices: tuple[str, ...] = ()
