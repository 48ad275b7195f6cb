"""The interfaces of the records of inputs and tool calls: each is recorded before it is done, so that nothing happens
twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

from agent.run import RunId

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

    async def state_of(self, key: ActionKey) -> ActionState | None:
        """Return the recorded state of this action; None if it was never begun."""

    async def action_of(self, key: ActionKey) -> dict[str, Any] | None:
        """Return the action as `begin` recorded it; None if it was never begun."""

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        """Record what became of the action. `effect` describes what it changed."""


CallState = Literal["begun", "done", "failed", "skipped", "stopped", "uncertain"]
"""The state of a call. A call that is `begun` or `stopped` may run again if it changes nothing; otherwise it is unknown
whether it was done.
"""
ENDED: Final[frozenset[CallState]] = frozenset({"done", "failed", "skipped", "uncertain"})
"""States after which a call is never run again under the same key."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """The identity of one call: the `number`th assignment of this member in the task, the member's answer `turn`, and
    the position in it. For a run on a phone, the number is the sub-task's and the turn is the step.
    """

    task: str
    member: str
    number: int
    turn: int
    index: int


@dataclass(frozen=True, slots=True)
class NewCall:
    """A call to be recorded: the tool's name and its arguments, without secrets.

    A `repeatable` call changes nothing anywhere. `same` is a digest that equal calls of a task share; "" for calls that
    are never taken from the cache.
    """

    name: str
    arguments: Mapping[str, Any]
    repeatable: bool = False
    same: str = ""


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A recorded tool call.

    `result` is plain data. `cached` means that it was taken from an equal call. `seconds` is how long it took, and
    `begun` is when it was recorded, in Unix seconds, or 0.0 without a clock.
    """

    key: CallKey
    call: NewCall
    state: CallState = "begun"
    result: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False
    seconds: float = 0.0
    begun: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.state == "done"


class ToolCalls(Protocol):
    """The record of tool calls. Each entry is on disk before the method returns."""

    async def begin(self, key: CallKey, call: NewCall) -> StoredCall | None:
        """Record that this call is about to run and return None, or return a known call, in which case it must not run.

        A call is known if one with the same key has ended or is not repeatable, or if a successful call of the task has
        an equal `same`; that result is then also recorded under this key, as cached.
        """

    async def finish(self, key: CallKey, state: CallState, result: Mapping[str, Any], seconds: float) -> None:
        """Record the result of a call."""

    async def refuse(self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any]) -> None:
        """Record a call that was not run, with the reason in `result`. Does nothing if a call with this key is recorded
        already.
        """

    async def at(self, key: CallKey) -> StoredCall | None:
        """Return the call with this key, or None."""

    async def count(self, key: CallKey) -> int:
        """Return how many calls this worker made in earlier turns, including skipped ones."""

    async def of_task(self, task: str) -> tuple[StoredCall, ...]:
        """Return all calls of a task, in the order in which they began."""

    async def found(self, task: str) -> tuple[str, ...]:
        """Return the addresses that searches of this task found: `found` in the results of its calls."""

    async def documents(self, task: str) -> tuple[str, ...]:
        """Return the document passages read for this task: `documents` in the results of its calls."""


class MemoryToolCalls:
    """Implements ToolCalls in memory, for tests and for work that need not be continued after a crash."""

    def __init__(self) -> None:
        self.rows: dict[CallKey, StoredCall] = {}

    async def begin(self, key: CallKey, call: NewCall) -> StoredCall | None:
        """Record that this call is about to run and return None, or return a known call, in which case it must not run.
        Implements `ToolCalls.begin`.
        """
        known = self.rows.get(key)
        if known is not None:
            return None if known.call.repeatable and known.state not in ENDED else known
        done = (row for row in self.rows.values() if row.ok and row.key.task == key.task)
        equal = next((row for row in done if call.same and row.call.same == call.same), None)
        if equal is None:
            self.rows[key] = StoredCall(key, call)
            return None
        self.rows[key] = replace(equal, key=key, call=call, cached=True, seconds=0.0)
        return self.rows[key]

    async def finish(self, key: CallKey, state: CallState, result: Mapping[str, Any], seconds: float) -> None:
        """Record the result of a call. Implements `ToolCalls.finish`."""
        self.rows[key] = replace(self.rows[key], state=state, result=result, seconds=seconds)

    async def refuse(self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any]) -> None:
        """Record a call that was not run, unless its key is known. Implements `ToolCalls.refuse`."""
        self.rows.setdefault(key, StoredCall(key, call, state, result))

    async def at(self, key: CallKey) -> StoredCall | None:
        """Return the call with this key, or None. Implements `ToolCalls.at`."""
        return self.rows.get(key)

    async def count(self, key: CallKey) -> int:
        """Return how many calls this worker made in earlier turns. Implements `ToolCalls.count`."""
        same = (key.task, key.member, key.number)
        return sum((row.task, row.member, row.number) == same and row.turn < key.turn for row in self.rows)

    async def of_task(self, task: str) -> tuple[StoredCall, ...]:
        """Return all calls of a task in the order in which they began. Implements `ToolCalls.of_task`."""
        return tuple(row for key, row in self.rows.items() if key.task == task)

    async def found(self, task: str) -> tuple[str, ...]:
        """Return the addresses that searches of this task found. Implements `ToolCalls.found`."""
        return await self._texts(task, "found")

    async def documents(self, task: str) -> tuple[str, ...]:
        """Return the document passages that were read for this task. Implements `ToolCalls.documents`."""
        return await self._texts(task, "documents")

    async def _texts(self, task: str, what: str) -> tuple[str, ...]:
        rows = await self.of_task(task)
        return tuple(dict.fromkeys(text for row in rows if row.ok for text in row.result.get(what, ())))
