"""How a task can end."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The five honest endings."""

    SUCCEEDED = "succeeded"
    UNVERIFIED = "unverified"
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"
