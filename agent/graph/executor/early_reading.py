"""Tracks the reading of a press that starts while the acting model is still writing, and its cost if it is unused."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agent.guards.reading import PressReading
from agent.models.base import ModelRequest, Usage
from agent.models.tokens import hung_up


@dataclass
class EarlyReading:
    """The reading of one press, identified by its `key`: control, window and all words bound to it.

    `sent` holds the request once it was sent to `model`. The task never raises the model's errors.
    """

    key: str
    model: str
    task: asyncio.Task[tuple[PressReading, Usage]]
    sent: list[ModelRequest] = field(default_factory=list)

    async def answer(self) -> tuple[PressReading, Usage]:
        """Return the reading, and the tokens it used."""
        return await self.task

    def drop(self) -> Usage:
        """Cancel the reading because another press was decided, or none, and return what it cost."""
        if self.task.done() and not self.task.cancelled() and self.task.exception() is None:
            return self.task.result()[1]
        self.task.cancel()
        spent = sum((hung_up(each, self.model) for each in self.sent), Usage())
        return spent.read_by_guard(0.0) if self.sent else Usage()


@dataclass
class EarlyReadings:
    """The readings begun for the answer that is being written: at most one press."""

    begun: EarlyReading | None = None
    _spent: Usage = field(default_factory=Usage)

    def begin(self, reading: EarlyReading) -> None:
        """Keep this reading, cancelling an earlier one."""
        self.drop()
        self.begun = reading

    def take(self, key: str | None) -> EarlyReading | None:
        """Return the reading for the press with this key; a reading for another press is cancelled."""
        if self.begun is None or self.begun.key != key:
            self.drop()
            return None
        reading, self.begun = self.begun, None
        return reading

    def drop(self) -> None:
        """Cancel the reading that was begun."""
        if self.begun is not None:
            self._spent += self.begun.drop()
            self.begun = None

    def take_spent(self) -> Usage:
        """Cancel what is running, and return, once, the tokens spent on unused readings."""
        self.drop()
        spent, self._spent = self._spent, Usage()
        return spent
