"""The journal of physical actions: each input to a phone is recorded before it is sent. Implements
`agent.ports.journal.Journal`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any, Final

from sqlalchemy import bindparam, select, update

from agent.ports.journal import ActionKey, ActionState, LeaseLost
from agent.run import RunId
from bot.store.connection import Database, Parameters, Transaction
from bot.store.engine import JsonField, given, insert, is_listed
from bot.store.json_columns import json_text
from bot.store.tables.tasks import actions, leases
from bot.store.waiting import PATIENCE_S

_HELD: Final = select(leases.c.phone).where(given(leases.c.run), given(leases.c.fence), leases.c.released.is_(None))
_BEGIN: Final = (
    insert(actions, ("run", "subtask", "step", "part", "fence", "action", "state", "begun"))
    .on_conflict_do_nothing()
    .returning(actions.c.part)
)
_THAT: Final = tuple(map(given, actions.primary_key))
_STATE: Final = select(actions.c.state).where(*_THAT)
_ACTION: Final = select(actions.c.action).where(*_THAT)
_FINISH: Final = (
    update(actions)
    .where(*_THAT)
    .values(state=bindparam("state"), effect=bindparam("effect"), finished=bindparam("finished"))
)
_LAST: Final = (
    select(actions.c.state, actions.c.finished)
    .where(is_listed(actions.c.run, "runs"), JsonField(actions.c.action, "kind").is_distinct_from("send_file"))
    .order_by(actions.c.begun.desc(), actions.c.subtask.desc(), actions.c.step.desc(), actions.c.part.desc())
    .limit(1)
)


class ActionJournal:
    """The table of actions sent to phones, each with its state and effect."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        """Record that the action is about to be sent. Returns False if it is recorded already and must not be sent
        again.

        The run's lease of the phone is checked in the same transaction by its `fence` (the lease's number). Raises
        LeaseLost if the run no longer has the phone, for instance because it hung and was given up; it can then send
        nothing more.
        """

        async def work(transaction: Transaction) -> bool:
            values: Parameters = _key(key) | {
                "fence": fence,
                "action": json_text(action),
                "state": "begun",
                "begun": self._clock(),
            }
            if not await transaction.fetch(_HELD, values):
                raise LeaseLost(f"run {key.run} no longer holds the phone (fence {fence})")
            return bool(await transaction.fetch(_BEGIN, values))

        # Nothing is sent meanwhile.
        return await self._database.write(work, patience=PATIENCE_S)

    async def state_of(self, key: ActionKey) -> ActionState | None:
        """Return the recorded state of this action; None if it was never begun."""
        rows = await self._database.fetch(_STATE, _key(key), patience=PATIENCE_S)
        return rows[0]["state"] if rows else None

    async def action_of(self, key: ActionKey) -> dict[str, Any] | None:
        """Return the action as it was recorded; None if it was never begun."""
        rows = await self._database.fetch(_ACTION, _key(key), patience=PATIENCE_S)
        return json.loads(rows[0]["action"]) if rows else None

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        """Record the state and effect of an action that `begin` recorded."""
        values: Parameters = _key(key) | {"state": state, "effect": effect, "finished": self._clock()}
        await self._database.execute(_FINISH, values, patience=PATIENCE_S)

    async def in_flight(self, runs: Collection[RunId], *, since: float) -> bool:
        """Return whether the last input of these runs may still reach its phone.

        That is so if it was begun and its outcome is unknown, or if it ended as uncertain at or after `since` (Unix
        seconds). Sending a file from the phone is not an input and does not count.
        """
        rows = await self._database.fetch(_LAST, {"runs": json_text(list(map(str, runs)))}, patience=PATIENCE_S)
        return any(
            row["state"] == "begun" or (row["state"] == "uncertain" and row["finished"] >= since) for row in rows
        )


def _key(key: ActionKey) -> Parameters:
    return {"run": str(key.run), "subtask": key.subtask, "step": key.step, "part": key.index}
