"""What may be used beyond the limits of one task, such as a person's quota for the day."""

from __future__ import annotations

from typing import Protocol

from agent.faults import Fault
from agent.models.base import Usage


class Allowance(Protocol):
    """Asked before a task costs anything, when it gets its phone, and after each of its steps."""

    async def reached(self, task: str, steps: int, usage: Usage) -> Fault | None:
        """What is used up with so many steps and tokens of this task, None while there is some of everything left.

        Raises OSError when that cannot be found out.
        """
        ...
