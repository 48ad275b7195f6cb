"""The table of tool calls, each stored before it is run. Implements `agent.ports.journal.ToolCalls`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import bindparam, func, select, update

from agent.ports.journal import ENDED, CallKey, CallState, NewCall, StoredCall
from bot.domain.task_events import LogEvent, ToolCalled, ToolReturned
from bot.store.codec import Codec
from bot.store.connection import Database, Transaction
from bot.store.engine import JsonPart, Statement, given, insert
from bot.store.json_columns import json_text
from bot.store.tables.tasks import tool_calls
from bot.store.task_events import TaskEvents
from bot.store.tasks import Tasks
from bot.store.waiting import PATIENCE_S

_KEY: Final = Codec(CallKey, tool_calls)
_CALL: Final = Codec(StoredCall, tool_calls)
_ADD: Final = insert(tool_calls, _CALL.columns).on_conflict_do_nothing().returning(tool_calls.c.id)
_OF_WORKER: Final = (given(tool_calls.c.task), given(tool_calls.c.member), given(tool_calls.c.number))
_IS_AT: Final = (*_OF_WORKER, given(tool_calls.c.turn), given(tool_calls.c.index))
_AT: Final = select(tool_calls).where(*_IS_AT)
_EQUAL: Final = (
    select(tool_calls)
    .where(given(tool_calls.c.task), given(tool_calls.c.same), tool_calls.c.same != "", tool_calls.c.state == "done")
    .limit(1)
)
_FINISH: Final = (
    update(tool_calls)
    .where(*_IS_AT)
    .values(state=bindparam("state"), result=bindparam("result"), seconds=bindparam("seconds"))
    .returning(tool_calls)
)
_COUNT: Final = select(func.count()).where(*_OF_WORKER, tool_calls.c.turn < bindparam("turn"))
_OF: Final = select(tool_calls).where(given(tool_calls.c.task)).order_by(tool_calls.c.id)
_FOUND, _DOCUMENTS = (
    select(texts.label("texts"))
    .where(given(tool_calls.c.task), tool_calls.c.state == "done", texts.is_not(None))
    .order_by(tool_calls.c.id)
    for texts in (JsonPart(tool_calls.c.result, "found"), JsonPart(tool_calls.c.result, "documents"))
)


class ToolCallTable:
    """The table of calls of tools that need no phone, with their results."""

    def __init__(self, database: Database, tasks: Tasks, log: TaskEvents, clock: Callable[[], float]) -> None:
        self._database = database
        self._tasks = tasks
        self._log = log
        self._clock = clock

    async def begin(self, key: CallKey, call: NewCall) -> StoredCall | None:
        """Record that this call is about to be run and return None, or return the stored call if it must not be run.

        It must not be run if it was begun before (unless it is repeatable and has not ended), or if an equal call of
        the same task has a result, which is then used again. Both checks are in the same transaction.
        """

        async def work(transaction: Transaction) -> StoredCall | None:
            known = _CALL.first(await transaction.fetch(_AT, _KEY.values(key)))
            if known is not None:
                return None if known.call.repeatable and known.state not in ENDED else known
            equal = _CALL.first(await transaction.fetch(_EQUAL, {"task": key.task, "same": call.same}))
            new = StoredCall(key, call, begun=self._clock())
            if equal is not None:
                new = replace(new, state="done", result=equal.result, cached=True)
            await self._add(transaction, new)
            return None if equal is None else replace(new, begun=equal.begun)

        return await self._database.write(work, patience=PATIENCE_S)

    async def finish(self, key: CallKey, state: CallState, result: Mapping[str, Any], seconds: float) -> None:
        """Store state, result and duration in seconds of a tool call that `begin` recorded."""

        async def work(transaction: Transaction) -> None:
            values = _KEY.values(key) | {"state": state, "result": json_text(result), "seconds": seconds}
            for call in _CALL.read_all(await transaction.fetch(_FINISH, values)):
                await self._tell(transaction, call)

        await self._database.write(work, patience=PATIENCE_S)

    async def refuse(self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any]) -> None:
        """Store a call that was not run, with the reason in `result`. Does nothing if a call with this key is
        stored.
        """
        refused = StoredCall(key, call, state, result, begun=self._clock())
        await self._database.write(lambda transaction: self._add(transaction, refused), patience=PATIENCE_S)

    async def at(self, key: CallKey) -> StoredCall | None:
        """Return the stored call with this key; None if there is none."""
        return _CALL.first(await self._database.fetch(_AT, _KEY.values(key), patience=PATIENCE_S))

    async def count(self, key: CallKey) -> int:
        """Return how many calls the worker in this key made in turns before the key's, skipped ones included."""
        return int((await self._database.fetch(_COUNT, _KEY.values(key), patience=PATIENCE_S))[0][0])

    async def of_task(self, task: str) -> tuple[StoredCall, ...]:
        """Return all calls of a task, in the order in which they were begun."""
        return _CALL.read_all(await self._database.fetch(_OF, {"task": task}, patience=PATIENCE_S))

    async def found(self, task: str) -> tuple[str, ...]:
        """Return the web addresses that the searches of this task returned (`found` in the results of its calls)."""
        return await self._texts(task, _FOUND)

    async def documents(self, task: str) -> tuple[str, ...]:
        """Return the document passages that were read for this task (`documents` in the results of its calls)."""
        return await self._texts(task, _DOCUMENTS)

    async def _texts(self, task: str, statement: Statement) -> tuple[str, ...]:
        rows = await self._database.fetch(statement, {"task": task}, patience=PATIENCE_S)
        return tuple(dict.fromkeys(str(text) for row in rows for text in json.loads(row["texts"])))

    async def _add(self, transaction: Transaction, one: StoredCall) -> None:
        if not await transaction.fetch(_ADD, _CALL.values(one)):
            return
        call, key = one.call, one.key
        called = ToolCalled(call=call_id(key), member=key.member, name=call.name, arguments=dict(call.arguments))
        await self._log_of(transaction, key, called)
        await self._tell(transaction, one)

    async def _tell(self, transaction: Transaction, one: StoredCall) -> None:
        """Add the result to the task's event log if the call has ended."""
        if one.state in ENDED:
            returned = ToolReturned(
                call=call_id(one.key),
                member=one.key.member,
                name=one.call.name,
                state=one.state,
                result=dict(one.result),
                cached=one.cached,
                seconds=one.seconds,
            )
            await self._log_of(transaction, one.key, returned)

    async def _log_of(self, transaction: Transaction, key: CallKey, event: LogEvent) -> None:
        # With a host of a fleet are calls of tasks that only the hub knows.
        if (task := await self._tasks.get(key.task, transaction)) is not None:
            await self._log.append(transaction, task, event)


def call_id(key: CallKey) -> str:
    """Return the id of a call that the task's events show to clients."""
    return f"{key.task}-{key.member}-{key.number}-{key.turn}-{key.index}"
