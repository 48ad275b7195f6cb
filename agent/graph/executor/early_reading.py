"""A press that is read while the model still writes: what was begun, and what it costs when it was in vain."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agent.guards.reading import PressReading
from agent.models.base import ModelRequest, Usage
from agent.models.tokens import hung_up


@dataclass
class EarlyReading:
    """The reading of one press, known by its `key`: control, window and all words that are bound to it.

    `sent` is the request once it has gone out to `model`. The task raises nothing of the model's.
    """

    key: str
    model: str
    task: asyncio.Task[tuple[PressReading, Usage]]
    sent: list[ModelRequest] = field(default_factory=list)

    async def answer(self) -> tuple[PressReading, Usage]:
        """What was said, and what that has used."""
        return await self.task

    def drop(self) -> Usage:
        """Cut it off: another press was decided, or none. What it has cost all the same."""
        if self.task.done() and not self.task.cancelled() and self.task.exception() is None:
            return self.task.result()[1]
        self.task.cancel()
        spent = sum((hung_up(each, self.model) for each in self.sent), Usage())
        return spent.read_by_guard(0.0) if self.sent else Usage()


@dataclass
class EarlyReadings:
    """What was begun of the answer that is being written: one press at most."""

    begun: EarlyReading | None = None
    _spent: Usage = field(default_factory=Usage)

    def begin(self, reading: EarlyReading) -> None:
        """Keep this one in place of what was begun before."""
        self.drop()
        self.begun = reading

    def take(self, key: str | None) -> EarlyReading | None:
        """What was begun for the press with this key; what was begun for another one is cut off."""
        if self.begun is None or self.begun.key != key:
            self.drop()
            return None
        reading, self.begun = self.begun, None
        return reading

    def drop(self) -> None:
        """Cut off what was begun."""
        if self.begun is not None:
            self._spent += self.begun.drop()
            self.begun = None

    def take_spent(self) -> Usage:
        """What was spent in vain, once; what is under way is cut off."""
        self.drop()
        spent, self._spent = self._spent, Usage()
        return spent
