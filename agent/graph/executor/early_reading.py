"""Holds the safety judgement of a press that starts while the acting model is still writing, and counts its cost if it
is not used.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agent.guards.reading import PressReading
from agent.models.base import ModelRequest, Usage
from agent.models.tokens import hung_up


@dataclass
class EarlyReading:
    """The independent reader's judgement of one press while it runs.

    `key` identifies the press: control, window and all words bound to it. `model` is the reader's name. `sent` holds
    the requests that were already sent. `task` never raises the model's errors.
    """

    key: str
    model: str
    task: asyncio.Task[tuple[PressReading, Usage]]
    sent: list[ModelRequest] = field(default_factory=list)

    async def answer(self) -> tuple[PressReading, Usage]:
        """Wait for the judgement; return it with the tokens it used."""
        return await self.task

    def drop(self) -> Usage:
        """Cancel the judgement because it is not needed any more, and return the tokens that it cost."""
        if self.task.done() and not self.task.cancelled() and self.task.exception() is None:
            return self.task.result()[1]
        self.task.cancel()
        spent = sum((hung_up(each, self.model) for each in self.sent), Usage())
        return spent.read_by_guard(0.0) if self.sent else Usage()


@dataclass
class EarlyReadings:
    """The judgement begun for the answer that the model is writing: at most one at a time."""

    begun: EarlyReading | None = None
    _spent: Usage = field(default_factory=Usage)

    def begin(self, reading: EarlyReading) -> None:
        """Store this reading, and cancel the one stored before."""
        self.drop()
        self.begun = reading

    def take(self, key: str | None) -> EarlyReading | None:
        """Return and remove the stored reading if it is for the press with this key; otherwise cancel it and return
        None.
        """
        if self.begun is None or self.begun.key != key:
            self.drop()
            return None
        reading, self.begun = self.begun, None
        return reading

    def drop(self) -> None:
        """Cancel the stored reading, if there is one."""
        if self.begun is not None:
            self._spent += self.begun.drop()
            self.begun = None

    def take_spent(self) -> Usage:
        """Cancel the stored reading, and return the tokens spent on unused readings since the last call."""
        self.drop()
        spent, self._spent = self._spent, Usage()
        return spent
