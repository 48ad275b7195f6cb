"""Conversations of the HTTP API: programs give tasks in them, and the messages are stored here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import bindparam, delete, select, tuple_, update

from agent.events import Asked, TaskEnded, Thinking
from agent.ports.agent import AS_SET, Guidance
from bot.domain.task import Task
from bot.domain.task_events import Accepted, LogEvent
from bot.store.codec import Codec, json_text
from bot.store.database import Parameters, TimedTableAccess, Transaction, WithValues, given, in_turn, insert, is_listed
from bot.store.tables.people import api_requests, conversation_messages, conversations
from bot.store.tables.tasks import task_events

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in which an API client gives tasks.

    - `owner`: The person whose conversation it is, as "platform:id".
    - `made`: When it was created, in Unix seconds.
    - `updated`: When it last changed, in Unix seconds.
    """

    id: str
    owner: str
    title: str
    made: float
    updated: float
    """When something last happened in it."""
    guidance: Guidance = AS_SET
    """Instructions and model settings for the tasks that are given in it from now on."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message in a conversation.

    - `task`: Id of the task that it belongs to.
    - `question`: Id of the question that the message asks, "" if it asks none.
    - `sent`: Unix seconds.
    """

    id: int
    role: Role
    text: str
    task: str
    question: str
    sent: float


_CONVERSATION: Final = Codec(Conversation, conversations, lean={"guidance"})
_ADD: Final = insert(conversations, _CONVERSATION.columns).on_conflict_do_nothing()
_THAT: Final = given(conversations.c.id)
_GET: Final = select(conversations).where(_THAT)
_OF: Final = (
    select(conversations)
    .where(is_listed(conversations.c.owner, "owners"))
    .order_by(conversations.c.made.desc(), conversations.c.id.desc())
    .limit(bindparam("limit"))
)
_BEGUN: Final = conversations.alias("begun")
_EARLIER: Final = _OF.join(_BEGUN, _BEGUN.c.id == bindparam("before")).where(
    tuple_(conversations.c.made, conversations.c.id) < tuple_(_BEGUN.c.made, _BEGUN.c.id)
)
_UPDATED: Final = update(conversations).where(_THAT).values(updated=bindparam("updated"))
_CHANGE: Final = _UPDATED.values(title=bindparam("title"), guidance=bindparam("guidance"))
_REMOVE: Final = delete(conversations).where(_THAT)
_COUNT: Final = _UPDATED.values(told=conversations.c.told + bindparam("events")).returning(conversations.c.told)

_SAID: Final = Codec(Said, conversation_messages)
_SAY: Final = insert(
    conversation_messages, ("conversation", "role", "text", "task", "question", "key", "sent")
).on_conflict_do_nothing()
_OF_CONVERSATION: Final = select(conversation_messages).where(given(conversation_messages.c.conversation))
_OF_KEY: Final = _OF_CONVERSATION.where(given(conversation_messages.c.key))
_IS_THERE: Final = conversation_messages.c.deleted.is_(False)
_BEHIND: Final = (
    _OF_CONVERSATION.where(conversation_messages.c.id > bindparam("after"), _IS_THERE)
    .order_by(conversation_messages.c.id)
    .limit(bindparam("limit"))
)
_GET_MESSAGE: Final = _OF_CONVERSATION.where(given(conversation_messages.c.id), _IS_THERE)
_DELETE_MESSAGE: Final = (
    update(conversation_messages)
    .where(given(conversation_messages.c.conversation), given(conversation_messages.c.id))
    .values(text="", deleted=True)
)
_FORGET_THOUGHTS: Final = (
    update(task_events)
    .where(
        task_events.c.task
        == select(conversation_messages.c.task).where(given(conversation_messages.c.id)).scalar_subquery(),
        given(task_events.c.conversation),
        task_events.c.kind == Thinking.model_fields["type"].default,
    )
    .values(data=Thinking(node="").model_dump_json(exclude={"type"}))
)
_WITH_DELETED: Final = select(conversation_messages.c.task).where(
    is_listed(conversation_messages.c.task, "tasks"), conversation_messages.c.deleted.is_(True)
)


class Conversations(TimedTableAccess):
    """The tables of conversations and their messages. `clock` returns Unix seconds."""

    async def add(self, number: str, owner: str, title: str, guidance: Guidance = AS_SET) -> Conversation:
        """Add a conversation with the id `number`, or return the existing one with this id unchanged."""

        async def work(transaction: Transaction) -> Conversation:
            now = self._clock()
            values = _CONVERSATION.values(Conversation(number, owner, title, now, now, guidance))
            await transaction.fetch(_ADD, values)
            return _CONVERSATION.read((await transaction.fetch(_GET, {"id": number}))[0])

        return await self._database.write(work)

    async def get(self, number: str) -> Conversation | None:
        """Return the conversation with the id `number`; None if there is none."""
        return _CONVERSATION.first(await self._database.fetch(_GET, {"id": number}))

    async def of(self, owners: Sequence[str], limit: int, *, before: str = "") -> tuple[Conversation, ...]:
        """Return at most `limit` conversations of these owners ("platform:id"), the latest first; with `before`, a
        conversation's id, only those created before it.
        """
        values: Parameters = {"owners": json_text(list(owners)), "before": before, "limit": limit}
        return _CONVERSATION.read_all(await self._database.fetch(_EARLIER if before else _OF, values))

    async def change(self, number: str, title: str, guidance: Guidance) -> None:
        """Change a conversation's title, and the guidance (instructions and model settings) for its later tasks.
        Raises StoreError.
        """
        kept = guidance.model_dump_json(exclude_defaults=True)
        values: Parameters = {"id": number, "title": title, "guidance": kept, "updated": self._clock()}
        await self._database.execute(_CHANGE, values)

    async def remove(self, number: str) -> None:
        """Delete a conversation and its messages. Its tasks and their event logs are not deleted."""
        await self._database.execute(_REMOVE, {"id": number})

    async def say(self, conversation: str, text: str, *, task: str, key: str) -> Said:
        """Add a person's message about a task and return it. If the conversation has a message with this `key`, return
        that one instead.
        """

        async def work(transaction: Transaction) -> Said:
            await transaction.fetch(_UPDATED, {"id": conversation, "updated": self._clock()})
            return await self._message(transaction, conversation, "user", text, int(task), "", key)

        return await self._database.write(work)

    async def message(self, conversation: str, number: int) -> Said | None:
        """Return this conversation's message with the id `number`; None if there is none or it was deleted."""
        return _SAID.first(await self._database.fetch(_GET_MESSAGE, {"conversation": conversation, "id": number}))

    async def delete_message(self, conversation: str, number: int) -> None:
        """Delete the text of this message, and the model's thoughts about the message's task. Raises StoreError."""
        message: Parameters = {"conversation": conversation, "id": number}
        updated: WithValues = (_UPDATED, {"id": conversation, "updated": self._clock()})
        await self._database.write(in_turn((_DELETE_MESSAGE, message), (_FORGET_THOUGHTS, message), updated))

    async def with_deleted(self, tasks: Sequence[str]) -> frozenset[str]:
        """Return those of these tasks that have a deleted message, so that their contents must not be used."""
        rows = await self._database.fetch(_WITH_DELETED, {"tasks": json_text([int(task) for task in tasks])})
        return frozenset(str(row["task"]) for row in rows)

    async def messages(self, conversation: str, limit: int, *, after: int = 0) -> tuple[Said, ...]:
        """Return at most `limit` messages with an id greater than `after`, in order. Deleted ones are left out."""
        values: Parameters = {"conversation": conversation, "after": after, "limit": limit}
        return _SAID.read_all(await self._database.fetch(_BEHIND, values))

    async def count(self, transaction: Transaction, conversation: str, events: int) -> int:
        """Reserve numbers for `events` more events of the conversation. Returns the last number, or 0 if the
        conversation no longer exists.
        """
        values: Parameters = {"id": conversation, "events": events, "updated": self._clock()}
        rows = await transaction.fetch(_COUNT, values)
        return int(rows[0]["told"]) if rows else 0

    async def note(self, transaction: Transaction, task: Task, event: LogEvent) -> int | None:
        """Store a task's event as a message in its conversation, if it is one that people read (task accepted,
        question, end). Returns the message's id, or None for other events.
        """
        match event:
            case Accepted():
                said: tuple[Role, str, str, str] = ("user", event.text, "", f"user:{event.source or task.id}")
            case Asked():
                said = ("assistant", event.question.text, event.question.id, f"ask:{event.question.id}")
            case TaskEnded():
                said = ("assistant", event.summary, "", f"final:{task.id}")
            case _:
                return None
        role, text, question, key = said
        number = int(task.parent or task.id)
        return (await self._message(transaction, task.origin.thread, role, text, number, question, key)).id

    async def _message(
        self,
        transaction: Transaction,
        conversation: str,
        role: Role,
        text: str,
        task: int,
        question: str,
        key: str,
    ) -> Said:
        values: Parameters = {
            "conversation": conversation,
            "role": role,
            "text": text,
            "task": task,
            "question": question,
            "key": key,
            "sent": self._clock(),
        }
        await transaction.fetch(_SAY, values)
        return _SAID.read((await transaction.fetch(_OF_KEY, values))[0])


KEPT_S = 7 * 86400.0
"""Seconds for which the response to an Idempotency-Key is stored; no client retries later."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The stored response to an API request.

    - `digest`: Hash of the request, by which a repetition is recognised.
    - `status`: HTTP status; 0 while the request is being processed, or if its result is unknown.
    - `body`: The response's body.
    """

    digest: str
    status: int
    body: str


_ANSWERED: Final = Codec(Answered, api_requests)
_FORGET_OLD: Final = delete(api_requests).where(api_requests.c.at < bindparam("oldest"))
_BEGIN: Final = insert(api_requests, api_requests.c.keys()).on_conflict_do_nothing().returning(api_requests.c.person)
_IS_REQUEST: Final = (given(api_requests.c.person), given(api_requests.c.key))
_KNOWN: Final = select(api_requests).where(*_IS_REQUEST)
_FINISH: Final = update(api_requests).where(*_IS_REQUEST).values(status=bindparam("status"), body=bindparam("body"))
_FORGET: Final = delete(api_requests).where(*_IS_REQUEST)


class ApiRequests(TimedTableAccess):
    """The table of API requests that carried an Idempotency-Key, with their responses."""

    async def begin(self, person: str, key: str, digest: str) -> Answered | None:
        """Record that a request is being processed. Returns None, or the stored response if this person sent the same
        key before.
        """

        async def work(transaction: Transaction) -> Answered | None:
            now = self._clock()
            await transaction.fetch(_FORGET_OLD, {"oldest": now - KEPT_S})
            values = _ANSWERED.values(Answered(digest, 0, "")) | {"person": person, "key": key, "at": now}
            if await transaction.fetch(_BEGIN, values):
                return None
            return _ANSWERED.first(await transaction.fetch(_KNOWN, values))

        return await self._database.write(work)

    async def finish(self, person: str, key: str, status: int, body: str) -> None:
        """Store the response to a request. Raises StoreError."""
        values: Parameters = {"person": person, "key": key, "status": status, "body": body}
        await self._database.execute(_FINISH, values)

    async def forget(self, person: str, key: str) -> None:
        """Delete a request that had no effect, so that it can be sent again. Raises StoreError."""
        await self._database.execute(_FORGET, {"person": person, "key": key})
