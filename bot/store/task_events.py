"""The log of each task: appended in the transaction that takes an event in, read behind a cursor."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from bot.domain.right import API_PLATFORM
from bot.domain.task import Task
from bot.domain.task_events import KINDS, LogEvent, LoggedEvent, names_in_conversation
from bot.store.connection import Transaction
from bot.store.conversations import Conversations
from bot.store.database import Database

AT_ONCE = 100
"""Events read in one go."""
AppendListener = Callable[[Task, LogEvent], None]


class TaskEvents:
    """The table of events. `clock` gives Unix seconds."""

    def __init__(self, database: Database, conversations: Conversations, clock: Callable[[], float]) -> None:
        self._database = database
        self._conversations = conversations
        self._clock = clock
        self._listeners: list[AppendListener] = []

    def on_append(self, listener: AppendListener) -> Callable[[], None]:
        """Call `listener` with the task, or its part, and each event of it that is on the disk; it must be quick.
        Returns what ends this.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def append(self, transaction: Transaction, task: Task, event: LogEvent) -> None:
        """Add an event to the log of the task, or of the task of which this is a part; and to its conversation."""
        conversation, told, message = None, 0, None
        names = names_in_conversation(event, of_part=bool(task.parent))
        if names and task.origin.platform == API_PLATFORM and task.origin.thread:
            told = await self._conversations.count(transaction, task.origin.thread, len(names))
            if told:
                conversation = task.origin.thread
                message = await self._conversations.note(transaction, task, event)
        await transaction.fetch(
            "INSERT INTO task_events (task, number, part, at, kind, data, conversation, told, message)"
            " SELECT ?1, COALESCE(MAX(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM task_events WHERE task = ?1",
            (
                int(task.parent or task.id),
                task.id if task.parent else "",
                self._clock(),
                event.type,
                # What skills are made of is in the step's own row alone.
                event.model_dump_json(exclude={"type", "record"}),
                conversation,
                told,
                message,
            ),
        )
        transaction.on_commit.append(lambda: self._appended(task, event))

    async def of_task(self, task: str, after: int = 0, limit: int = AT_ONCE) -> tuple[LoggedEvent, ...]:
        """What has happened to the task and its parts behind this number, in order."""
        rows = await self._database.fetch(
            "SELECT * FROM task_events WHERE task = ? AND number > ? ORDER BY number LIMIT ?", (int(task), after, limit)
        )
        return tuple(map(_logged, rows))

    async def of_conversation(self, conversation: str, after: int = 0, limit: int = AT_ONCE) -> tuple[LoggedEvent, ...]:
        """What has happened to the tasks of a conversation behind the event with this number in it, in order."""
        rows = await self._database.fetch(
            "SELECT * FROM task_events WHERE conversation = ? AND told > ? ORDER BY told LIMIT ?",
            (conversation, after, limit),
        )
        return tuple(map(_logged, rows))

    def _appended(self, task: Task, event: LogEvent) -> None:
        for listener in tuple(self._listeners):
            listener(task, event)


def _logged(row: sqlite3.Row) -> LoggedEvent:
    event = KINDS[row["kind"]].model_validate_json(row["data"])
    return LoggedEvent(str(row["task"]), row["number"], row["at"], event, row["part"], row["told"], row["message"])
