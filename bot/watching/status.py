"""The service in one line, for `systemctl status`: numbers, no names."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from bot.tasks.model import Task
from devices.phone import Phones


class LiveTasks(Protocol):
    """Where the tasks are kept."""

    async def active(self) -> tuple[Task, ...]:
        """All that have not ended."""
        ...


async def status_line(tasks: LiveTasks, phones: Phones) -> str:
    """How many tasks are in which state, and how many phones. Raises StoreError."""
    states = Counter(task.state.value for task in await tasks.active())
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    return f"Tasks: {told}. Phones: {len(phones.list())}"
