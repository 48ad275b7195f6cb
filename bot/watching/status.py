"""The service in one line, for `systemctl status`: numbers, no names."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from bot.tasks.model import Task
from bot.watching.waits import Waits
from devices.phone import Phones


class LiveTasks(Protocol):
    """Where the tasks are kept."""

    async def active(self) -> tuple[Task, ...]:
        """All that have not ended."""
        ...


async def status_line(tasks: LiveTasks, phones: Phones, waits: Waits) -> str:
    """How many tasks are in which state, how many phones, and what is waited for. Raises StoreError."""
    states = Counter(task.state.value for task in await tasks.active())
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    waited = ", ".join(wait.what for wait in waits.now())
    return f"Tasks: {told}. Phones: {len(phones.list())}{f'. Waits for: {waited}' if waited else ''}"
