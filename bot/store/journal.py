"""The record of physical actions, written before each is sent. Implements `agent.ports.journal.Journal`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from agent.ports.journal import ActionKey, ActionState, LeaseLost
from agent.run_id import RunId
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text
from bot.store.waiting import PATIENCE_S


class ActionJournal:
    """The table of actions."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        """Write that the action is about to be sent; False when it is there already and must not be sent again.

        The lease is checked in the same transaction: a run that lost its phone, for instance because it hung and
        was given up, raises LeaseLost here and can touch nothing any more.
        """

        async def work(transaction: Transaction) -> bool:
            held = await transaction.fetch(
                "SELECT 1 FROM leases WHERE run = ? AND fence = ? AND released IS NULL", (str(key.run), fence)
            )
            if not held:
                raise LeaseLost(f"run {key.run} no longer holds the phone (fence {fence})")
            added = await transaction.fetch(
                "INSERT INTO actions (run, subtask, step, part, fence, action, state, begun)"
                " VALUES (?, ?, ?, ?, ?, ?, 'begun', ?) ON CONFLICT DO NOTHING RETURNING 1",
                (str(key.run), key.subtask, key.step, key.index, fence, json_text(action), self._clock()),
            )
            return bool(added)

        # Nothing is sent meanwhile.
        return await self._database.write(work, patience=PATIENCE_S)

    async def state_of(self, key: ActionKey) -> ActionState | None:
        """What is written of this action, None where it was not begun."""
        rows = await self._database.fetch(
            "SELECT state FROM actions WHERE run = ? AND subtask = ? AND step = ? AND part = ?",
            (str(key.run), key.subtask, key.step, key.index),
        )
        return rows[0]["state"] if rows else None

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        """Write what became of it."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "UPDATE actions SET state = ?, effect = ?, finished = ?"
                " WHERE run = ? AND subtask = ? AND step = ? AND part = ?",
                (state, effect, self._clock(), str(key.run), key.subtask, key.step, key.index),
            )

        await self._database.write(work, patience=PATIENCE_S)

    async def in_flight(self, runs: Collection[RunId], *, since: float) -> bool:
        """Whether the last input of these runs may still reach its phone: it was begun and nothing is known of it, or
        it was cut off since then (Unix seconds). A file that leaves the phone is no input.
        """
        rows = await self._database.fetch(
            "SELECT state, finished FROM actions WHERE run IN (SELECT value FROM json_each(?))"
            " AND json_extract(action, '$.kind') IS NOT 'send_file'"
            " ORDER BY begun DESC, subtask DESC, step DESC, part DESC LIMIT 1",
            (json_text(list(map(str, runs))),),
        )
        return any(
            row["state"] == "begun" or (row["state"] == "uncertain" and row["finished"] >= since) for row in rows
        )
