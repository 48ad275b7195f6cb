"""The record of tool calls, written before each is run. Implements `agent.ports.tool_calls.ToolCalls`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from agent.ports.tool_calls import ENDED, CallKey, CallState, NewCall, StoredCall
from bot.domain.task_events import LogEvent, ToolCalled, ToolReturned
from bot.store.connection import Transaction, Value
from bot.store.database import Database
from bot.store.json_columns import json_text
from bot.store.task_events import TaskEvents
from bot.store.tasks import Tasks
from bot.store.waiting import PATIENCE_S

_AT: Final = "SELECT * FROM tool_calls WHERE task = ? AND member = ? AND number = ? AND turn = ? AND part = ?"
_INSERT: Final = (
    "INSERT INTO tool_calls (task, member, number, turn, part, name, arguments, repeatable, same, state, result,"
    " cached, begun) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
)


class ToolCallTable:
    """The table of tool calls."""

    def __init__(self, database: Database, tasks: Tasks, log: TaskEvents, clock: Callable[[], float]) -> None:
        self._database = database
        self._tasks = tasks
        self._log = log
        self._clock = clock

    async def begin(self, key: CallKey, call: NewCall) -> StoredCall | None:
        """See ToolCalls. The look for an equal call stands in the same transaction."""

        async def work(transaction: Transaction) -> StoredCall | None:
            rows = await transaction.fetch(_AT, _values(key))
            if rows:
                known = _stored(rows[0])
                return None if known.call.repeatable and known.state not in ENDED else known
            equal = await transaction.fetch(
                "SELECT * FROM tool_calls WHERE task = ? AND same = ? AND same <> '' AND state = 'done' LIMIT 1",
                (key.task, call.same),
            )
            if not equal:
                await self._add(transaction, StoredCall(key, call))
                return None
            cached = replace(_stored(equal[0]), key=key, call=call, cached=True, seconds=0.0)
            await self._add(transaction, cached)
            return cached

        return await self._database.write(work, patience=PATIENCE_S)

    async def finish(self, key: CallKey, state: CallState, result: Mapping[str, Any], seconds: float) -> None:
        """See ToolCalls."""

        async def work(transaction: Transaction) -> None:
            rows = await transaction.fetch(
                "UPDATE tool_calls SET state = ?, result = ?, seconds = ?"
                " WHERE task = ? AND member = ? AND number = ? AND turn = ? AND part = ? RETURNING *",
                (state, json_text(result), seconds, *_values(key)),
            )
            for row in rows:
                await self._tell(transaction, _stored(row))

        await self._database.write(work, patience=PATIENCE_S)

    async def refuse(self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any]) -> None:
        """See ToolCalls."""
        refused = StoredCall(key, call, state, result)
        await self._database.write(lambda transaction: self._add(transaction, refused), patience=PATIENCE_S)

    async def at(self, key: CallKey) -> StoredCall | None:
        """See ToolCalls."""
        rows = await self._database.fetch(_AT, _values(key))
        return _stored(rows[0]) if rows else None

    async def count(self, key: CallKey) -> int:
        """See ToolCalls."""
        rows = await self._database.fetch(
            "SELECT COUNT(*) AS calls FROM tool_calls WHERE task = ? AND member = ? AND number = ? AND turn < ?",
            (key.task, key.member, key.number, key.turn),
        )
        return int(rows[0]["calls"])

    async def of_task(self, task: str) -> tuple[StoredCall, ...]:
        """See ToolCalls."""
        return tuple(
            map(_stored, await self._database.fetch("SELECT * FROM tool_calls WHERE task = ? ORDER BY id", (task,)))
        )

    async def found(self, task: str) -> tuple[str, ...]:
        """See ToolCalls."""
        return await self._texts(task, "found")

    async def documents(self, task: str) -> tuple[str, ...]:
        """See ToolCalls."""
        return await self._texts(task, "documents")

    async def _texts(self, task: str, what: str) -> tuple[str, ...]:
        rows = await self._database.fetch(
            "SELECT each.value AS text FROM tool_calls, json_each(tool_calls.result, '$.' || ?) AS each"
            " WHERE task = ? AND state = 'done' ORDER BY tool_calls.id, each.key",
            (what, task),
        )
        return tuple(dict.fromkeys(str(row["text"]) for row in rows))

    async def _add(self, transaction: Transaction, one: StoredCall) -> None:
        call = one.call
        told = (call.name, json_text(call.arguments), call.repeatable, call.same)
        added = await transaction.fetch(
            _INSERT, (*_values(one.key), *told, one.state, json_text(one.result), one.cached, self._clock())
        )
        if not added:
            return
        called = ToolCalled(call=_id(one.key), member=one.key.member, name=call.name, arguments=dict(call.arguments))
        await self._log_of(transaction, one.key, called)
        await self._tell(transaction, one)

    async def _tell(self, transaction: Transaction, one: StoredCall) -> None:
        """The log gets what came of it, once it has ended."""
        if one.state in ENDED:
            returned = ToolReturned(
                call=_id(one.key),
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


def _id(key: CallKey) -> str:
    return f"{key.task}-{key.member}-{key.number}-{key.turn}-{key.index}"


def _values(key: CallKey) -> tuple[Value, ...]:
    return (key.task, key.member, key.number, key.turn, key.index)


def _stored(row: sqlite3.Row) -> StoredCall:
    return StoredCall(
        CallKey(row["task"], row["member"], row["number"], row["turn"], row["part"]),
        NewCall(row["name"], json.loads(row["arguments"]), bool(row["repeatable"]), row["same"]),
        row["state"],
        json.loads(row["result"]),
        bool(row["cached"]),
        row["seconds"],
        row["begun"],
    )
