"""The record of physical actions: written before an action is sent, so that none is ever sent twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agent.run_id import RunId

ActionState = Literal["begun", "done", "rejected", "uncertain"]


class LeaseLost(Exception):
    """Another run holds the phone now; this one must not touch it."""


@dataclass(frozen=True, slots=True)
class ActionKey:
    """The identity of one physical action."""

    run: RunId
    subtask: int
    step: int
    index: int

    @property
    def receipt(self) -> str:
        """The key as the phone gets to see it."""
        return f"{self.run}.{self.subtask}.{self.step}.{self.index}"


class Journal(Protocol):
    """Committed to disk before each call returns."""

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        """Write that this action is about to be sent.

        False when the key is there already: it must not be sent again, whatever became of it.
        Raises LeaseLost when `fence` is no longer the number of the phone's lease.
        """
        ...

    async def state_of(self, key: ActionKey) -> ActionState | None:
        """What is written of this action, None where it was not begun."""
        ...

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        """Write what became of it."""
        ...
