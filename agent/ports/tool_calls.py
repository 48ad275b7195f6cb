"""The record of tool calls: each is written before it runs, so that none with an effect is ever done twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

CallState = Literal["begun", "done", "failed", "skipped", "stopped", "uncertain"]
"""`begun` and `stopped`: it may be run again where it changes nothing; else nobody knows whether it was done."""
ENDED: Final[frozenset[CallState]] = frozenset({"done", "failed", "skipped", "uncertain"})
"""What is never run again under the same key."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """The identity of one call: the `number`th worker of this member in the task, and its place in that one's answer
    number `turn`. Of a run on a phone the number is that of the sub-task, and the turn is the step.
    """

    task: str
    member: str
    number: int
    turn: int
    index: int


@dataclass(frozen=True, slots=True)
class NewCall:
    """A call as it is written down: the name of the tool and its arguments, without secrets.

    What is `repeatable` changes nothing anywhere. `same` is a digest by which equal calls of a task know each other, ""
    for one that never comes from the cache.
    """

    name: str
    arguments: Mapping[str, Any]
    repeatable: bool = False
    same: str = ""


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call as it is kept. `result` is what came of it as plain data, `cached` says that it was taken from an equal
    call; `seconds` is how long it took, and `begun` (Unix seconds) when it was written down, 0.0 where no clock is.
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
        """Whether something came of it."""
        return self.state == "done"


class ToolCalls(Protocol):
    """Committed to disk before each call returns."""

    async def begin(self, key: CallKey, call: NewCall) -> StoredCall | None:
        """Write that this call is about to be run, and return None; or return what is known of it, and it must not be
        run.

        Known is one of the same key that has ended, or that is not repeatable (whatever became of it); and a done one
        of the same task with an equal `same`: that is then written under this key as well, as cached.
        """
        ...

    async def finish(self, key: CallKey, state: CallState, result: Mapping[str, Any], seconds: float) -> None:
        """Write what became of it."""
        ...

    async def refuse(self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any]) -> None:
        """Write a call that was not run, with its reason; nothing is changed where its key is known."""
        ...

    async def at(self, key: CallKey) -> StoredCall | None:
        """The call of this key."""
        ...

    async def count(self, key: CallKey) -> int:
        """How many calls the worker of this key has made in earlier turns, skipped ones too."""
        ...

    async def of_task(self, task: str) -> tuple[StoredCall, ...]:
        """All calls of a task, in the order in which they were begun."""
        ...

    async def found(self, task: str) -> tuple[str, ...]:
        """The addresses that searches of this task have returned: `found` in the results of its calls."""
        ...

    async def documents(self, task: str) -> tuple[str, ...]:
        """The passages of documents that were read for this task: `documents` in the results of its calls."""
        ...


class MemoryToolCalls:
    """Implements ToolCalls in memory, for tests and for work that nobody continues after a crash."""

    def __init__(self) -> None:
        self.rows: dict[CallKey, StoredCall] = {}

    async def begin(self, key: CallKey, call: NewCall) -> StoredCall | None:
        """See ToolCalls."""
        known = self.rows.get(key)
        if known is not None:
            return None if known.call.repeatable and known.state not in ENDED else known
        equal = next((row for row in self.rows.values() if call.same and _is_equal(row, key, call)), None)
        if equal is None:
            self.rows[key] = StoredCall(key, call)
            return None
        self.rows[key] = replace(equal, key=key, call=call, cached=True, seconds=0.0)
        return self.rows[key]

    async def finish(self, key: CallKey, state: CallState, result: Mapping[str, Any], seconds: float) -> None:
        """See ToolCalls."""
        self.rows[key] = replace(self.rows[key], state=state, result=result, seconds=seconds)

    async def refuse(self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any]) -> None:
        """See ToolCalls."""
        self.rows.setdefault(key, StoredCall(key, call, state, result))

    async def at(self, key: CallKey) -> StoredCall | None:
        """See ToolCalls."""
        return self.rows.get(key)

    async def count(self, key: CallKey) -> int:
        """See ToolCalls."""
        same = (key.task, key.member, key.number)
        return sum((row.task, row.member, row.number) == same and row.turn < key.turn for row in self.rows)

    async def of_task(self, task: str) -> tuple[StoredCall, ...]:
        """See ToolCalls."""
        return tuple(row for key, row in self.rows.items() if key.task == task)

    async def found(self, task: str) -> tuple[str, ...]:
        """See ToolCalls."""
        return await self._texts(task, "found")

    async def documents(self, task: str) -> tuple[str, ...]:
        """See ToolCalls."""
        return await self._texts(task, "documents")

    async def _texts(self, task: str, what: str) -> tuple[str, ...]:
        rows = await self.of_task(task)
        return tuple(dict.fromkeys(text for row in rows if row.ok for text in row.result.get(what, ())))


def _is_equal(row: StoredCall, key: CallKey, call: NewCall) -> bool:
    return row.key.task == key.task and row.call.same == call.same and row.ok
