"""What has to let a task in before it is accepted."""

from __future__ import annotations

from typing import Protocol

from bot.store.connection import Transaction
from bot.tasks.model import Task, TaskWish


class Gate(Protocol):
    """Asked in the transaction that accepts a task: two tasks cannot both be the last one."""

    async def admit(self, transaction: Transaction, task: Task, wish: TaskWish) -> None:
        """Let the task in that was just written. Raises OverQuota; then nothing is kept of it."""
        ...
