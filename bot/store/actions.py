"""The tables of what tasks do: their steps, the journal of inputs to phones, and tool calls. Inputs and tool calls are
stored before they are carried out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import bindparam, func, or_, select, update

from agent.effect_facts import effects_data, effects_of
from agent.ports.journal import ENDED, ActionKey, ActionState, CallKey, CallState, LeaseLost, NewCall, StoredCall
from agent.run import RunId
from bot.domain.task import StepRow
from bot.domain.task_events import LogEvent, ToolCalled, ToolReturned
from bot.store.codec import Codec, json_text
from bot.store.database import (
    Database,
    JsonField,
    JsonPart,
    Parameters,
    Statement,
    TableAccess,
    TimedTableAccess,
    Transaction,
    given,
    insert,
    is_listed,
)
from bot.store.tables.metadata import Number
from bot.store.tables.tasks import actions, leases, steps, tasks, tool_calls
from bot.store.task_events import TaskEvents
from bot.store.tasks import Tasks
from bot.store.waiting import PATIENCE_S

_ADD_STEP: Final = (
    insert(steps, [column.key for column in steps.c if not column.primary_key])
    .on_conflict_do_nothing()
    .returning(steps.c.number)
)
_TASK: Final = bindparam("task", type_=Number)
# By tasks alone: with `steps.task` in place of their id SQLite reads all steps that there are.
_STEPS: Final = (
    select(steps, tasks.c.parent, tasks.c.phone_name)
    .join(tasks)
    .where(or_(tasks.c.id == _TASK, tasks.c.parent == _TASK))
)
_STEPS_OF: Final = _STEPS.order_by(steps.c.number).offset(bindparam("after"))
_LAST_STEP: Final = _STEPS.order_by(steps.c.number.desc()).limit(1)
_STEP: Final = Codec(
    StepRow,
    steps,
    lean={"record"},
    own={
        "task": lambda row: str(row["task"] if row["parent"] is None else row["parent"]),
        "action": lambda row: json.loads(row["action"]),
        "effect": lambda row: effects_of(json.loads(row["effects"])),
        "mark": lambda row: None if row["mark_x"] is None else (row["mark_x"], row["mark_y"]),
        "part": lambda row: "" if row["parent"] is None else str(row["task"]),
        "phone_name": lambda row: "" if row["parent"] is None else row["phone_name"],
    },
)


class Steps(TableAccess):
    """The table of steps. A step is one round of an agent on a phone: look at the screen, decide, act."""

    async def add(self, transaction: Transaction, row: StepRow) -> bool:
        """Store a step. Returns False and changes nothing if it is stored already, which happens after a restart."""
        mark_x, mark_y = row.mark or (None, None)
        values: Parameters = _STEP.values(row) | {
            "task": int(row.part or row.task),
            "action": json_text(row.action),
            "effects": json_text(effects_data(row.effect)),
            "mark_x": mark_x,
            "mark_y": mark_y,
        }
        return bool(await transaction.fetch(_ADD_STEP, values))

    async def of(self, task: str, *, after: int = 0) -> tuple[StepRow, ...]:
        """Return the steps of a task in order, without the first `after`; for a task on several phones, the steps of
        all its parts.
        """
        rows = await self._database.fetch(_STEPS_OF, {"task": int(task), "after": after})
        return _STEP.read_all(rows)

    async def last(self, task: str) -> StepRow | None:
        """Return the latest step of a task; None before the first."""
        return _STEP.first(await self._database.fetch(_LAST_STEP, {"task": int(task)}))


_HELD: Final = select(leases.c.phone).where(given(leases.c.run), given(leases.c.fence), leases.c.released.is_(None))
_BEGIN_ACTION: Final = (
    insert(actions, ("run", "subtask", "step", "part", "fence", "action", "state", "begun"))
    .on_conflict_do_nothing()
    .returning(actions.c.part)
)
_THAT: Final = tuple(map(given, actions.primary_key))
_STATE: Final = select(actions.c.state).where(*_THAT)
_ACTION: Final = select(actions.c.action).where(*_THAT)
_FINISH_ACTION: Final = (
    update(actions)
    .where(*_THAT)
    .values(state=bindparam("state"), effect=bindparam("effect"), finished=bindparam("finished"))
)
_LAST_ACTION: Final = (
    select(actions.c.state, actions.c.finished)
    .where(is_listed(actions.c.run, "runs"), JsonField(actions.c.action, "kind").is_distinct_from("send_file"))
    .order_by(actions.c.begun.desc(), actions.c.subtask.desc(), actions.c.step.desc(), actions.c.part.desc())
    .limit(1)
)


class ActionJournal(TimedTableAccess):
    """The table of actions sent to phones, each with its state and effect."""

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
            return bool(await transaction.fetch(_BEGIN_ACTION, values))

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
        await self._database.execute(_FINISH_ACTION, values, patience=PATIENCE_S)

    async def in_flight(self, runs: Collection[RunId], *, since: float) -> bool:
        """Return whether the last input of these runs may still reach its phone.

        That is so if it was begun and its outcome is unknown, or if it ended as uncertain at or after `since` (Unix
        seconds). Sending a file from the phone is not an input and does not count.
        """
        rows = await self._database.fetch(_LAST_ACTION, {"runs": json_text(list(map(str, runs)))}, patience=PATIENCE_S)
        return any(
            row["state"] == "begun" or (row["state"] == "uncertain" and row["finished"] >= since) for row in rows
        )


def _key(key: ActionKey) -> Parameters:
    return {"run": str(key.run), "subtask": key.subtask, "step": key.step, "part": key.index}


_KEY: Final = Codec(CallKey, tool_calls)
_CALL: Final = Codec(StoredCall, tool_calls)
_ADD_CALL: Final = insert(tool_calls, _CALL.columns).on_conflict_do_nothing().returning(tool_calls.c.id)
_OF_WORKER: Final = (given(tool_calls.c.task), given(tool_calls.c.member), given(tool_calls.c.number))
_IS_AT: Final = (*_OF_WORKER, given(tool_calls.c.turn), given(tool_calls.c.index))
_AT: Final = select(tool_calls).where(*_IS_AT)
_EQUAL: Final = (
    select(tool_calls)
    .where(given(tool_calls.c.task), given(tool_calls.c.same), tool_calls.c.same != "", tool_calls.c.state == "done")
    .limit(1)
)
_FINISH_CALL: Final = (
    update(tool_calls)
    .where(*_IS_AT)
    .values(state=bindparam("state"), result=bindparam("result"), seconds=bindparam("seconds"))
    .returning(tool_calls)
)
_COUNT_CALLS: Final = select(func.count()).where(*_OF_WORKER, tool_calls.c.turn < bindparam("turn"))
_CALLS_OF: Final = select(tool_calls).where(given(tool_calls.c.task)).order_by(tool_calls.c.id)
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
            for call in _CALL.read_all(await transaction.fetch(_FINISH_CALL, values)):
                await self._append_event(transaction, call)

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
        return int((await self._database.fetch(_COUNT_CALLS, _KEY.values(key), patience=PATIENCE_S))[0][0])

    async def of_task(self, task: str) -> tuple[StoredCall, ...]:
        """Return all calls of a task, in the order in which they were begun."""
        return _CALL.read_all(await self._database.fetch(_CALLS_OF, {"task": task}, patience=PATIENCE_S))

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
        if not await transaction.fetch(_ADD_CALL, _CALL.values(one)):
            return
        call, key = one.call, one.key
        called = ToolCalled(call=call_id(key), member=key.member, name=call.name, arguments=dict(call.arguments))
        await self._log_of(transaction, key, called)
        await self._append_event(transaction, one)

    async def _append_event(self, transaction: Transaction, one: StoredCall) -> None:
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
