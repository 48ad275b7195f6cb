"""The interface of the journal of inputs: each is recorded before it is sent, so that none is ever sent twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agent.run_id import RunId

ActionState = Literal["begun", "done", "rejected", "uncertain"]


class LeaseLost(Exception):
    """The phone belongs to another run now, so this run must not touch it."""


@dataclass(frozen=True, slots=True)
class ActionKey:
    """The identity of one action: the run, sub-task, step and position within the step."""

    run: RunId
    subtask: int
    step: int
    index: int

    @property
    def receipt(self) -> str:
        """The key as text, in the form in which it is written to the phone's own log."""
        return f"{self.run}.{self.subtask}.{self.step}.{self.index}"


class Journal(Protocol):
    """The record of inputs, written to disk before each call returns.

    An example:

        if await journal.begin(key, action_data(action), fence=lease.fence):
            done = await phone.act(what, receipt=key.receipt)
            await journal.finish(key, "done", "")
    """

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        """Record that this action is about to be sent.

        Returns False if the key already exists: the action must then not be sent again, whatever became of it. Raises
        LeaseLost if `fence` is no longer the number of the phone's lease.
        """
        ...

    async def state_of(self, key: ActionKey) -> ActionState | None:
        """Return the recorded state of this action; None if it was never begun."""
        ...

    async def action_of(self, key: ActionKey) -> dict[str, Any] | None:
        """Return the action as `begin` recorded it; None if it was never begun."""
        ...

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        """Record what became of the action. `effect` describes what it changed."""
        ...
