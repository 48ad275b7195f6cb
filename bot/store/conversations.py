"""Conversations of programs: which there are, and what was said in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.events import Asked, TaskEnded
from agent.ports.agent import AS_SET, Guidance
from bot.domain.task import Task
from bot.domain.task_events import Accepted, LogEvent
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text

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
        """Forget it, with all that was said; its tasks stay, with their logs."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM conversations WHERE id = ?", (number,))

        await self._database.write(work)

    async def say(self, conversation: str, text: str, *, key: str) -> Said:
        """A person's words; the same key is kept once."""

        async def work(transaction: Transaction) -> Said:
            return _said((await self._message(transaction, conversation, "user", text, None, "", key))[0])

        return await self._database.write(work)

    async def messages(self, conversation: str, limit: int, *, after: int = 0) -> tuple[Said, ...]:
        """What was said behind the message `after`, in order."""
        rows = await self._database.fetch(
            "SELECT * FROM conversation_messages WHERE conversation = ? AND id > ? ORDER BY id LIMIT ?",
            (conversation, after, limit),
        )
        return tuple(_said(row) for row in rows)

    async def count(self, transaction: Transaction, conversation: str, events: int) -> int:
        """So many more events of its tasks happen in it: the number of the last one, 0 for one that is gone."""
        rows = await transaction.fetch(
            "UPDATE conversations SET told = told + ? WHERE id = ? RETURNING told", (events, conversation)
        )
        return int(rows[0]["told"]) if rows else 0

    async def note(self, transaction: Transaction, task: Task, event: LogEvent) -> int | None:
        """Keep what such an event says in the conversation of its task: the id of the message, None for none."""
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
        rows = await self._message(transaction, task.origin.thread, role, text, number, question, key)
        return int(rows[0]["id"])

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
