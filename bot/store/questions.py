"""The questions to people and what became of them. A secret's answer is never here: the caller passes ""."""

from __future__ import annotations

import sqlite3

from agent.questions import Question, QuestionKind
from bot.domain.address import Address, MessageRef
from bot.domain.task import Closing, OpenQuestion
from bot.store.connection import Source, Transaction
from bot.store.database import Database
from bot.store.json_columns import address_text, message_of, message_text


class Questions:
    """The table of questions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, transaction: Transaction, task: str, question: Question, *, now: float, expires: float) -> bool:
        """Keep a question. False when it was asked before: then nothing changes."""
        added = await transaction.fetch(
            "INSERT INTO questions (id, task, question, asked, expires) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING RETURNING 1",
            (question.id, int(task), question.model_dump_json(), now, expires),
        )
        return bool(added)

    async def answer(self, transaction: Transaction, question: str, text: str, *, by: str, now: float) -> bool:
        """Keep the answer when the question is still open and in time: the first one wins. False otherwise."""
        won = await transaction.fetch(
            "UPDATE questions SET answer = ?1, answered_by = ?2, closed = ?4"
            " WHERE id = ?3 AND answer IS NULL AND expired = 0 AND expires > ?4 RETURNING 1",
            (text, by, question, now),
        )
        return bool(won)

    async def due(self, now: float) -> bool:
        """Whether there are open questions whose time is over."""
        sql = "SELECT 1 FROM questions WHERE answer IS NULL AND expired = 0 AND expires <= ? LIMIT 1"
        return bool(await self._database.fetch(sql, (now,)))

    async def expire(self, transaction: Transaction, *, now: float) -> tuple[OpenQuestion, ...]:
        """Close the open questions whose time is over, and return them."""
        rows = await transaction.fetch(
            "UPDATE questions SET expired = 1, closed = ?1, closing = ?2"
            " WHERE answer IS NULL AND expired = 0 AND expires <= ?1 RETURNING *",
            (now, Closing.EXPIRED.value),
        )
        return tuple(_question(row) for row in rows)

    async def close(
        self, transaction: Transaction, task: str, question: str | None = None, *, why: Closing, now: float
    ) -> tuple[OpenQuestion, ...]:
        """Close the task's open questions, or only that one, and return them: nobody needs to answer any more."""
        rows = await transaction.fetch(
            "UPDATE questions SET expired = 1, closed = ?3, closing = ?4"
            " WHERE answer IS NULL AND expired = 0 AND task = ?1 AND (?2 IS NULL OR id = ?2) RETURNING *",
            (int(task), question, now, why.value),
        )
        return tuple(_question(row) for row in rows)

    async def get(self, question: str, source: Source | None = None) -> OpenQuestion | None:
        """The question with this id, None when there is none."""
        rows = await (source or self._database).fetch("SELECT * FROM questions WHERE id = ?", (question,))
        return _question(rows[0]) if rows else None

    async def open(
        self, task: str | None = None, place: Address | None = None, source: Source | None = None
    ) -> tuple[OpenQuestion, ...]:
        """The open questions, oldest first: all, those of a task (with its parts), or those shown in a place."""
        rows = await (source or self._database).fetch(
            "SELECT questions.* FROM questions JOIN tasks ON tasks.id = questions.task"
            " JOIN tasks AS known ON known.id = COALESCE(tasks.parent, tasks.id)"
            " WHERE answer IS NULL AND expired = 0 AND (?1 IS NULL OR ?1 IN (tasks.id, tasks.parent))"
            " AND (?2 IS NULL OR COALESCE(known.place, known.origin) = ?2) ORDER BY questions.asked, questions.id",
            (None if task is None else int(task), None if place is None else address_text(place)),
        )
        return tuple(_question(row) for row in rows)

    async def of(self, task: str) -> tuple[OpenQuestion, ...]:
        """All questions of a task and of its parts, open or closed, in the order in which they were asked."""
        rows = await self._database.fetch(
            "SELECT questions.* FROM questions JOIN tasks ON tasks.id = questions.task"
            " WHERE ?1 IN (tasks.id, tasks.parent) ORDER BY questions.asked, questions.id",
            (int(task),),
        )
        return tuple(_question(row) for row in rows)

    async def closed(self, kind: QuestionKind, *, asked_by: float, ends_from: float) -> tuple[OpenQuestion, ...]:
        """Closed questions of a kind, the latest first: asked at this Unix time at the latest, and whose time is over
        at that one or later.
        """
        rows = await self._database.fetch(
            "SELECT * FROM questions WHERE (answer IS NOT NULL OR expired = 1) AND asked <= ? AND expires >= ?"
            " AND json_extract(question, '$.kind') = ? ORDER BY asked DESC, id",
            (asked_by, ends_from, kind.value),
        )
        return tuple(_question(row) for row in rows)

    async def by_message(self, message: MessageRef) -> OpenQuestion | None:
        """The question that was shown as this message."""
        rows = await self._database.fetch("SELECT * FROM questions WHERE message = ?", (message_text(message),))
        return _question(rows[0]) if rows else None

    async def shown(self, question: str, message: MessageRef) -> None:
        """The question was sent as this message."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("UPDATE questions SET message = ? WHERE id = ?", (message_text(message), question))

        await self._database.write(work)


def _question(row: sqlite3.Row) -> OpenQuestion:
    return OpenQuestion(
        task=str(row["task"]),
        question=Question.model_validate_json(row["question"]),
        asked=row["asked"],
        expires=row["expires"],
        message=None if row["message"] is None else message_of(row["message"]),
        answer=row["answer"],
        answered_by=row["answered_by"],
        expired=bool(row["expired"]),
        closed=row["closed"],
        closing=Closing(row["closing"]) if row["closing"] else None,
    )


class Deadlines:
    """What waits until a certain time: open questions, and interrupted tasks that wait for their Resume."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def move(self, seconds: float) -> None:
        """The clock was set by so many seconds: everybody still has as long as they were told."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "UPDATE questions SET asked = asked + ?1, expires = expires + ?1 WHERE answer IS NULL AND expired = 0",
                (seconds,),
            )
            await transaction.fetch("UPDATE tasks SET changed = changed + ? WHERE state = 'interrupted'", (seconds,))

        await self._database.write(work)
