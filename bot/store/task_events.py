"""The event log of each task. Events are appended in the transaction that processes them, and read after a cursor."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sqlalchemy import bindparam, case, func, select

from bot.domain.right import API_PLATFORM
from bot.domain.task import Task
from bot.domain.task_events import KINDS, LogEvent, LoggedEvent, StepDone, ToolReturned, names_in_conversation
from bot.store.codec import Codec
from bot.store.conversations import Conversations
from bot.store.database import Database, Parameters, Transaction, given, insert
from bot.store.tables.metadata import Number
from bot.store.tables.people import conversation_messages
from bot.store.tables.tasks import epochs, task_events

AT_ONCE = 100
"""Events read in one go."""
AppendListener = Callable[[Task, LogEvent], None]

_NEXT: Final = select(func.coalesce(func.max(task_events.c.number), 0) + 1).where(given(task_events.c.task))
_DONE: Final = (
    select(task_events.c.done).where(given(task_events.c.task)).order_by(task_events.c.number.desc()).limit(1)
)
_LATEST: Final = select(func.coalesce(func.max(task_events.c.position), 0).label("position"))
_BEFORE: Final = _LATEST.correlate(None).scalar_subquery()
_MOMENT: Final = bindparam("moment", type_=Number)
_APPEND: Final = insert(task_events, task_events.c.keys()).values(
    number=_NEXT.scalar_subquery(),
    position=case((_MOMENT <= _BEFORE, _BEFORE + 1), else_=_MOMENT),
    done=func.coalesce(_DONE.scalar_subquery(), 0) + bindparam("done"),
)
_ALL: Final = select(task_events).limit(bindparam("limit"))
_OF_TASK: Final = _ALL.where(given(task_events.c.task), task_events.c.number > bindparam("after")).order_by(
    task_events.c.number
)
_BEHIND: Final = task_events.c.position > bindparam("after")
_SINCE: Final = _ALL.where(_BEHIND).order_by(task_events.c.position)
_EPOCH: Final = select(epochs)
_BEGIN_EPOCH: Final = insert(epochs, epochs.c.keys()).returning(epochs)
_MISSED: Final = select(func.count().label("count")).select_from(task_events).where(_BEHIND)
_OF_CONVERSATION: Final = (
    _ALL.add_columns(conversation_messages.c.deleted)
    .join(conversation_messages, conversation_messages.c.id == task_events.c.message, isouter=True)
    .where(given(task_events.c.conversation), task_events.c.told > bindparam("after"))
    .order_by(task_events.c.told)
)
_LOGGED: Final = Codec(
    LoggedEvent,
    task_events,
    own={
        "event": lambda row: KINDS[row["kind"]].model_validate_json(row["data"]),
        "is_deleted": lambda _row: False,
    },
)


class TaskEvents:
    """The table of task events. `clock` returns Unix seconds."""

    def __init__(self, database: Database, conversations: Conversations, clock: Callable[[], float]) -> None:
        self._database = database
        self._conversations = conversations
        self._clock = clock
        self._listeners: list[AppendListener] = []

    def on_append(self, listener: AppendListener) -> Callable[[], None]:
        """Call `listener` with the task (or its part) and the event after each event was stored. It must be quick.

        Returns a function that removes the listener.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def append(self, transaction: Transaction, task: Task, event: LogEvent) -> None:
        """Add an event to the log of the task, or of the task that this is a part of, and to the API conversation that
        it belongs to.
        """
        conversation, told, message = None, 0, None
        names = names_in_conversation(event, of_part=bool(task.parent))
        if names and task.origin.platform == API_PLATFORM and task.origin.thread:
            told = await self._conversations.count(transaction, task.origin.thread, len(names))
            if told:
                conversation = task.origin.thread
                message = await self._conversations.note(transaction, task, event)
        now = self._clock()
        values: Parameters = {
            "task": int(task.parent or task.id),
            "part": task.id if task.parent else "",
            "at": now,
            "moment": int(now * 1_000_000),
            "kind": event.type,
            # What skills are made of is in the step's own row alone.
            "data": event.model_dump_json(exclude={"type", "record"}),
            "done": int(isinstance(event, StepDone | ToolReturned)),
            "conversation": conversation,
            "told": told,
            "message": message,
        }
        await transaction.fetch(_APPEND, values)
        transaction.on_commit.append(lambda: self._notify_listeners(task, event))

    async def of_task(self, task: str, after: int = 0, limit: int = AT_ONCE) -> tuple[LoggedEvent, ...]:
        """Return at most `limit` events of the task and its parts with a number greater than `after`, in order."""
        values: Parameters = {"task": int(task), "after": after, "limit": limit}
        return _LOGGED.read_all(await self._database.fetch(_OF_TASK, values))

    async def since(self, position: int, limit: int = AT_ONCE) -> tuple[LoggedEvent, ...]:
        """Return at most `limit` events of all tasks after this position, in order."""
        return _LOGGED.read_all(await self._database.fetch(_SINCE, {"after": position, "limit": limit}))

    async def latest(self) -> int:
        """Return the position of the last event of all tasks; 0 if there is none."""
        return int((await self._database.fetch(_LATEST))[0]["position"])

    async def epoch(self) -> str:
        """Return the random word that identifies this database, creating it if needed. Positions are only valid within
        one database.
        """

        async def work(transaction: Transaction) -> str:
            rows = await transaction.fetch(_EPOCH)
            if not rows:
                rows = await transaction.fetch(_BEGIN_EPOCH, {"word": secrets.token_hex(4)})
            return str(rows[0]["word"])

        rows = await self._database.fetch(_EPOCH)
        return str(rows[0]["word"]) if rows else await self._database.write(work)

    async def missed(self, position: int) -> int:
        """Return the number of events after this position."""
        return int((await self._database.fetch(_MISSED, {"after": position}))[0]["count"])

    async def of_conversation(self, conversation: str, after: int = 0, limit: int = AT_ONCE) -> tuple[LoggedEvent, ...]:
        """Return at most `limit` events of a conversation's tasks after the event with the number `after`, in order."""
        values: Parameters = {"conversation": conversation, "after": after, "limit": limit}
        rows = await self._database.fetch(_OF_CONVERSATION, values)
        return tuple([replace(_LOGGED.read(row), is_deleted=bool(row["deleted"])) for row in rows])

    def _notify_listeners(self, task: Task, event: LogEvent) -> None:
        for listener in tuple(self._listeners):
            listener(task, event)
