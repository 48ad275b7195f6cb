"""What must be told to people, written together with the change that causes it and sent at least once, and where
each task's card is.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, assert_never

from bot.domain.address import MessageRef
from bot.store.connection import Source, Transaction, Value
from bot.store.database import Database
from bot.store.json_columns import message_of, message_text
from bot.store.waiting import PATIENCE_S

OutboxKind = Literal["final", "question", "notice", "file"]
"""What the table calls a payload; which of them goes first depends on it alone."""
OutboxState = Literal["pending", "sending", "sent", "dead"]


class Notice(StrEnum):
    """What is told of a task while it lives, in words that are chosen when it is sent."""

    STARTED = "started"
    """It waited for a while, and begins."""
    INTERRUPTED = "interrupted"
    """It stands still since the service died, and somebody has to say whether it goes on."""


@dataclass(frozen=True, slots=True)
class FinalPayload:
    """How the task ended."""

    quiet: bool = False
    """Whether it rings for nobody: whoever gave the task has ended it."""


@dataclass(frozen=True, slots=True)
class QuestionPayload:
    """A question that is asked."""

    question: str
    """Its id."""


@dataclass(frozen=True, slots=True)
class NoticePayload:
    """Something that happened to the task."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class FilePayload:
    """A file that the run hands out."""

    content: str
    """Its reference among the frames."""
    name: str


Payload = FinalPayload | QuestionPayload | NoticePayload | FilePayload
"""What a message is about; its words are made when it is sent."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One message to send. Times are Unix seconds.

    `uncertain` says that the process died while it was being sent: it may have arrived.
    """

    id: int
    task: str
    payload: Payload
    state: OutboxState
    uncertain: bool
    attempts: int
    not_before: float
    created: float
    message: MessageRef | None
    why: str
    """Why it was given up; "" else."""

    @property
    def kind(self) -> OutboxKind:
        """What the table calls its payload."""
        return _columns(self.payload)[0]


LONGEST_SILENCE = 3 * 3600.0
"""Seconds; the longest that a platform was reported to ask for is 10,323."""


class Outbox:
    """The table of messages to send. Those of one task are sent in the order in which they were written."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recover(self, now: float, *, patience: float = 0.0) -> None:
        """At start: what was being sent when the process died is pending again, marked as uncertain.

        Nothing is put off for longer than any platform asks for: the clock may have been set back. See
        `Database.write` for `patience`.
        """

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("UPDATE outbox SET state = 'pending', uncertain = 1 WHERE state = 'sending'")
            await transaction.fetch(
                "UPDATE outbox SET not_before = ?1 WHERE state = 'pending' AND not_before > ?1",
                (now + LONGEST_SILENCE,),
            )

        await self._database.write(work, patience=patience)

    async def add(self, transaction: Transaction, task: str, payload: Payload, *, now: float) -> None:
        """A message becomes due with this transaction. Raises sqlite3.IntegrityError for a second final message."""
        kind, subject, name = _columns(payload)
        await transaction.fetch(
            "INSERT INTO outbox (task, kind, subject, name, created) VALUES (?, ?, ?, ?, ?)",
            (int(task), kind, subject, name, now),
        )

    async def pending(self, now: float, source: Source | None = None) -> tuple[OutboxRow, ...]:
        """What may be sent now, oldest first. A row behind one of its task that is being sent, or that has to
        wait, is not among them.
        """
        rows = await (source or self._database).fetch(
            # The first condition and +id make SQLite use the index of what is open: all that was ever sent is more.
            "SELECT * FROM outbox WHERE state IN ('pending', 'sending') AND state = 'pending'"
            " AND NOT EXISTS (SELECT 1 FROM outbox AS earlier"
            " WHERE earlier.task = outbox.task AND earlier.id <= outbox.id AND (earlier.state = 'sending'"
            " OR (earlier.state = 'pending' AND earlier.not_before > ?))) ORDER BY +id",
            (now,),
        )
        return tuple(_row(row) for row in rows)

    async def sending(self, row: int) -> bool:
        """Before a send. False when it may not be sent now: it is not pending any more, or an earlier message of its
        task is still to be sent (it was put off after `pending` was read).
        """
        return await self._change(
            "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE id = ? AND state = 'pending'"
            " AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.task = outbox.task"
            " AND earlier.id < outbox.id AND earlier.state IN ('pending', 'sending')) RETURNING 1",
            row,
        )

    async def sent(self, row: int, message: MessageRef) -> None:
        """Mark a row that arrived as this message: a store that is away is waited for, or it would be sent again."""
        await self._change(
            "UPDATE outbox SET state = 'sent', message = ? WHERE id = ?",
            message_text(message),
            row,
            patience=PATIENCE_S,
        )

    async def retry(self, row: int, not_before: float) -> None:
        """Mark a row that did not arrive: it is sent again, not before that time."""
        await self._change(
            "UPDATE outbox SET state = 'pending', not_before = ? WHERE id = ?", not_before, row, patience=PATIENCE_S
        )

    async def dead(self, row: int, why: str) -> None:
        """Mark a row that can never arrive."""
        await self._change("UPDATE outbox SET state = 'dead', why = ? WHERE id = ?", why, row)

    async def ask_again(self, task: str, *, now: float) -> tuple[OutboxRow, ...]:
        """The open questions of the task that were sent are due once more, as new messages."""

        async def work(transaction: Transaction) -> tuple[OutboxRow, ...]:
            gone = await transaction.fetch(
                "DELETE FROM outbox WHERE task = ? AND kind = 'question' AND state = 'sent' AND subject IN"
                " (SELECT id FROM questions WHERE answer IS NULL AND expired = 0) RETURNING subject",
                (int(task),),
            )
            for row in gone:
                await self.add(transaction, task, QuestionPayload(row["subject"]), now=now)
            return tuple(
                _row(row)
                for row in await transaction.fetch(
                    "SELECT * FROM outbox WHERE task = ? AND kind = 'question' AND state = 'pending' ORDER BY id",
                    (int(task),),
                )
            )

        return await self._database.write(work)

    async def of(self, task: str) -> tuple[OutboxRow, ...]:
        """All messages of a task, in order."""
        rows = await self._database.fetch("SELECT * FROM outbox WHERE task = ? ORDER BY id", (int(task),))
        return tuple(_row(row) for row in rows)

    async def _change(self, sql: str, *values: Value, patience: float = 0.0) -> bool:
        async def work(transaction: Transaction) -> bool:
            return bool(await transaction.fetch(sql, values))

        return await self._database.write(work, patience=patience)


def _columns(payload: Payload) -> tuple[OutboxKind, str, str]:
    """Kind, subject and name, as the table has them."""
    match payload:
        case FinalPayload(quiet):
            return "final", _QUIET if quiet else "", ""
        case QuestionPayload(question):
            return "question", question, ""
        case NoticePayload(notice):
            return "notice", notice.value, ""
        case FilePayload(content, name):
            return "file", content, name
        case _:
            assert_never(payload)


def _payload(kind: OutboxKind, subject: str, name: str) -> Payload:
    match kind:
        case "final":
            return FinalPayload(quiet=subject == _QUIET)
        case "question":
            return QuestionPayload(subject)
        case "notice":
            return NoticePayload(Notice(subject))
        case "file":
            return FilePayload(subject, name)
        case _:
            assert_never(kind)


_QUIET = "quiet"


def _row(row: sqlite3.Row) -> OutboxRow:
    return OutboxRow(
        id=row["id"],
        task=str(row["task"]),
        payload=_payload(row["kind"], row["subject"], row["name"]),
        state=row["state"],
        uncertain=bool(row["uncertain"]),
        attempts=row["attempts"],
        not_before=row["not_before"],
        created=row["created"],
        message=None if row["message"] is None else message_of(row["message"]),
        why=row["why"],
    )


@dataclass(frozen=True, slots=True)
class CardRef:
    """The message that shows a task, and the Unix time at which it was made."""

    message: MessageRef
    made: float


class Cards:
    """The table of cards."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, task: str) -> CardRef | None:
        """The task's card, None while it has none."""
        rows = await self._database.fetch("SELECT message, made FROM cards WHERE task = ?", (int(task),))
        return CardRef(message_of(rows[0]["message"]), rows[0]["made"]) if rows else None

    async def put(self, task: str, message: MessageRef, made: float) -> None:
        """The card is this message from now on."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "INSERT INTO cards (task, message, made) VALUES (?, ?, ?)"
                " ON CONFLICT (task) DO UPDATE SET message = excluded.message, made = excluded.made",
                (int(task), message_text(message), made),
            )

        await self._database.write(work)
