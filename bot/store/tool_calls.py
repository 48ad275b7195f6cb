"""The record of tool calls, written before each is run. Implements `agent.ports.tool_calls.ToolCalls`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from agent.ports.tool_calls import ENDED, CallKey, CallState, NewCall, StoredCall
from bot.store.connection import Transaction, Value
from bot.store.database import Database
from bot.store.json_columns import json_text
from bot.store.waiting import PATIENCE_S

_AT: Final = "SELECT * FROM tool_calls WHERE task = ? AND member = ? AND number = ? AND turn = ? AND part = ?"
_INSERT: Final = (
    "INSERT INTO tool_calls (task, member, number, turn, part, name, arguments, repeatable, same, state, result,"
    " cached, begun) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)


class ToolCallTable:
    """The table of tool calls."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._listeners: list[Callable[[str], None]] = []

    def on_change(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with the task of each call that was written; it must be quick. Returns what ends this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _changed(self, task: str) -> None:
        for listener in tuple(self._listeners):
            listener(task)

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
                await transaction.fetch(_INSERT, self._row(key, call, "begun", {}))
                return None
            cached = replace(_stored(equal[0]), key=key, call=call, cached=True, seconds=0.0)
            await transaction.fetch(_INSERT, self._row(key, call, "done", cached.result, cached=True))
            return cached

        known = await self._database.write(work, patience=PATIENCE_S)
        self._changed(key.task)
        return known

    async def finish(self, key: CallKey, state: CallState, result: Mapping[str, Any], seconds: float) -> None:
        """See ToolCalls."""
        await self._database.write(
            lambda transaction: transaction.fetch(
                "UPDATE tool_calls SET state = ?, result = ?, seconds = ?"
                " WHERE task = ? AND member = ? AND number = ? AND turn = ? AND part = ?",
                (state, json_text(result), seconds, *_values(key)),
            ),
            patience=PATIENCE_S,
        )
        self._changed(key.task)

    async def refuse(self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any]) -> None:
        """See ToolCalls."""
        row = self._row(key, call, state, result)
        await self._database.write(lambda transaction: transaction.fetch(_INSERT, row), patience=PATIENCE_S)
        self._changed(key.task)

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

    def _row(
        self, key: CallKey, call: NewCall, state: CallState, result: Mapping[str, Any], *, cached: bool = False
    ) -> tuple[Value, ...]:
        told = (call.name, json_text(call.arguments), call.repeatable, call.same)
        return (*_values(key), *told, state, json_text(result), cached, self._clock())


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
