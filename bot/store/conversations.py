"""Conversations of programs: what was said, and what happened, in events that are counted without a gap."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent.ports.agent import AS_SET, Guidance
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text, row_number

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A place where tasks are given. `owner` is whose it is, as platform:id; times are Unix seconds."""

    id: str
    owner: str
    title: str
    made: float
    guidance: Guidance = AS_SET
    """How the tasks that are given in it from now on are to be thought about."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a conversation. `question` is the id of the question that it asks, "" for none."""

    id: int
    role: Role
    text: str
    task: str
    question: str
    sent: float


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a conversation; `number` counts from 1 without a gap."""

    number: int
    event: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event before it has a number: the same `key` happens once in a conversation.

    With `text` it is a message too, and its data get the message's id as `message`.
    """

    key: str
    event: str
    data: Mapping[str, Any]
    task: str
    text: str | None = None
    question: str = ""
    about: str = ""
    """The key of an earlier event whose message this one is about."""


class Conversations:
    """The tables of conversations. `clock` gives Unix seconds."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, number: str, owner: str, title: str, guidance: Guidance = AS_SET) -> Conversation:
        """Begin one; the one that is there already under this id stays as it is."""

        async def work(transaction: Transaction) -> Conversation:
            await transaction.fetch(
                "INSERT INTO conversations (id, owner, title, made, model, system_prompt) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (number, owner, title, self._clock(), guidance.model, guidance.instructions),
            )
            return _conversation((await transaction.fetch("SELECT * FROM conversations WHERE id = ?", (number,)))[0])

        return await self._database.write(work)

    async def get(self, number: str) -> Conversation | None:
        """The conversation with this id, None when there is none."""
        rows = await self._database.fetch("SELECT * FROM conversations WHERE id = ?", (number,))
        return _conversation(rows[0]) if rows else None

    async def of(self, owners: Sequence[str], limit: int, *, before: str = "") -> tuple[Conversation, ...]:
        """Those of these owners, the latest first; with `before`, those that were begun earlier than that one."""
        rows = await self._database.fetch(
            "SELECT * FROM conversations WHERE owner IN (SELECT value FROM json_each(?1))"
            " AND (?2 = '' OR (made, id) < (SELECT made, id FROM conversations WHERE id = ?2))"
            " ORDER BY made DESC, id DESC LIMIT ?3",
            (json_text(list(owners)), before, limit),
        )
        return tuple(_conversation(row) for row in rows)

    async def change(self, number: str, title: str, guidance: Guidance) -> None:
        """Call it so, and have its later tasks thought about so. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "UPDATE conversations SET title = ?, model = ?, system_prompt = ? WHERE id = ?",
                (title, guidance.model, guidance.instructions, number),
            )

        await self._database.write(work)

    async def remove(self, number: str) -> None:
        """Forget it, with all that was said and that happened; its tasks stay."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM conversations WHERE id = ?", (number,))

        await self._database.write(work)

    async def say(self, conversation: str, text: str, *, key: str) -> Said:
        """A person's words; the same key is kept once."""
        return await self._database.write(lambda transaction: self.say_with(transaction, conversation, text, key=key))

    async def say_with(
        self, transaction: Transaction, conversation: str, text: str, *, key: str, task: str = ""
    ) -> Said:
        """The same with the rest of a transaction; `task` is what became of the words."""
        number = row_number(task) if task else None
        return _said((await self._message(transaction, conversation, "user", text, number, "", key))[0])

    async def messages(self, conversation: str, limit: int, *, after: int = 0) -> tuple[Said, ...]:
        """What was said behind the message `after`, in order."""
        rows = await self._database.fetch(
            "SELECT * FROM conversation_messages WHERE conversation = ? AND id > ? ORDER BY id LIMIT ?",
            (conversation, after, limit),
        )
        return tuple(_said(row) for row in rows)

    async def happened(self, conversation: str, events: Sequence[NewEvent]) -> int:
        """Keep what has not been kept yet, in this order; how many that were. 0 for a conversation that is gone."""

        async def work(transaction: Transaction) -> int:
            added = 0
            if not await transaction.fetch("SELECT 1 FROM conversations WHERE id = ?", (conversation,)):
                return 0
            rows = await transaction.fetch(
                "SELECT key FROM conversation_events WHERE conversation = ?"
                " AND key IN (SELECT value FROM json_each(?))",
                (conversation, json_text([new.key for new in events])),
            )
            known = {row["key"] for row in rows}
            for new in events:
                if new.key in known:
                    continue
                data = dict(new.data)
                if new.text is not None:
                    rows = await self._message(
                        transaction, conversation, "assistant", new.text, row_number(new.task), new.question, new.key
                    )
                    data["message"] = rows[0]["id"]
                if new.about:
                    rows = await transaction.fetch(
                        "SELECT id FROM conversation_messages WHERE conversation = ? AND key = ?",
                        (conversation, new.about),
                    )
                    data["message"] = rows[0]["id"] if rows else None
                await transaction.fetch(
                    "INSERT INTO conversation_events (conversation, number, key, event, data)"
                    " SELECT ?1, COALESCE(MAX(number), 0) + 1, ?2, ?3, ?4 FROM conversation_events"
                    " WHERE conversation = ?1",
                    (conversation, new.key, new.event, json_text(data)),
                )
                added += 1
            return added

        return await self._database.write(work)

    async def events(self, conversation: str, after: int, limit: int) -> tuple[Happened, ...]:
        """What happened behind the event `after`, in order."""
        rows = await self._database.fetch(
            "SELECT * FROM conversation_events WHERE conversation = ? AND number > ? ORDER BY number LIMIT ?",
            (conversation, after, limit),
        )
        return tuple(Happened(row["number"], row["event"], json.loads(row["data"])) for row in rows)

    async def last(self, conversation: str) -> int:
        """The number of the last event, 0 before the first."""
        rows = await self._database.fetch(
            "SELECT COALESCE(MAX(number), 0) FROM conversation_events WHERE conversation = ?", (conversation,)
        )
        return int(rows[0][0])

    async def unfinished(self) -> tuple[str, ...]:
        """The tasks that were given in a conversation and whose end is not told there yet."""
        rows = await self._database.fetch(
            "SELECT DISTINCT data ->> 'task' FROM conversation_events AS begun WHERE event = 'thinking_start'"
            " AND NOT EXISTS (SELECT 1 FROM conversation_events AS over WHERE over.conversation = begun.conversation"
            " AND over.key = 'done:' || (begun.data ->> 'task'))"
        )
        return tuple(str(row[0]) for row in rows)

    async def _message(
        self,
        transaction: Transaction,
        conversation: str,
        role: Role,
        text: str,
        task: int | None,
        question: str,
        key: str,
    ) -> list[sqlite3.Row]:
        await transaction.fetch(
            "INSERT INTO conversation_messages (conversation, role, text, task, question, key, sent)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (conversation, role, text, task, question, key, self._clock()),
        )
        return await transaction.fetch(
            "SELECT * FROM conversation_messages WHERE conversation = ? AND key = ?", (conversation, key)
        )


KEPT_S = 7 * 86400.0
"""Seconds for which it is known what was answered to an Idempotency-Key; nobody tries again so late."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What was answered to a request. `status` is 0 while it is worked on, or nobody knows what became of it."""

    digest: str
    status: int
    body: str


class ApiRequests:
    """The table of requests that carried an Idempotency-Key."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def begin(self, person: str, key: str, digest: str) -> Answered | None:
        """Note that a request is worked on. What is known of it when it came before, else None."""

        async def work(transaction: Transaction) -> Answered | None:
            now = self._clock()
            await transaction.fetch("DELETE FROM api_requests WHERE at < ?", (now - KEPT_S,))
            added = await transaction.fetch(
                "INSERT INTO api_requests (person, key, digest, status, body, at) VALUES (?, ?, ?, 0, '', ?)"
                " ON CONFLICT DO NOTHING RETURNING 1",
                (person, key, digest, now),
            )
            if added:
                return None
            rows = await transaction.fetch("SELECT * FROM api_requests WHERE person = ? AND key = ?", (person, key))
            return Answered(rows[0]["digest"], rows[0]["status"], rows[0]["body"])

        return await self._database.write(work)

    async def finish(self, person: str, key: str, status: int, body: str) -> None:
        """Keep what was answered. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "UPDATE api_requests SET status = ?, body = ? WHERE person = ? AND key = ?", (status, body, person, key)
            )

        await self._database.write(work)

    async def forget(self, person: str, key: str) -> None:
        """Nothing was done: the request may come again. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM api_requests WHERE person = ? AND key = ?", (person, key))

        await self._database.write(work)


def _conversation(row: sqlite3.Row) -> Conversation:
    guidance = Guidance(model=row["model"], instructions=row["system_prompt"])
    return Conversation(row["id"], row["owner"], row["title"], row["made"], guidance)


def _said(row: sqlite3.Row) -> Said:
    task = "" if row["task"] is None else str(row["task"])
    return Said(row["id"], row["role"], row["text"], task, row["question"], row["sent"])
