"""How a task can end."""

from __future__ import annotations

from enum import StrEnum


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
