"""The outbox: messages to people, stored in the same transaction as the change that causes them and sent at least
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, assert_never

from sqlalchemy import bindparam, delete, exists, or_, select, update

from bot.domain.address import MessageRef
from bot.store.codec import Codec, message_text
from bot.store.database import Database, Source, TableAccess, Transaction, given, in_turn, insert, upsert
from bot.store.tables.chats import cards, outbox, questions
from bot.store.waiting import PATIENCE_S
from bot.store.webhooks import Webhooks

OutboxKind = Literal["final", "question", "notice", "file"]
"""How the table names the kinds of payload."""
OutboxState = Literal["pending", "sending", "sent", "dead"]


class Notice(StrEnum):
    """What a message about an unfinished task says. The text is composed when it is sent."""

    STARTED = "started"
    """The task waited for a while and begins now."""
    INTERRUPTED = "interrupted"
    """The task is paused since the service died, and a person has to decide whether it continues."""


@dataclass(frozen=True, slots=True)
class FinalPayload:
    """The final message of a task."""

    quiet: bool = False
    """Whether the message does not notify, because the person who gave the task ended it."""


@dataclass(frozen=True, slots=True)
class QuestionPayload:
    """A message that asks people a question on behalf of a task."""

    question: str
    """The id of the question."""


@dataclass(frozen=True, slots=True)
class NoticePayload:
    """A message about an event of the task that people should notice."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class FilePayload:
    """A message with a file that a task delivers."""

    content: str
    """The reference of the file's bytes in the frame store."""
    name: str


Payload = FinalPayload | QuestionPayload | NoticePayload | FilePayload
"""What a message is about. Its text is composed when it is sent."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One message to send. Times are Unix seconds.

    - `uncertain`: Whether the process died while sending it, so that it may have arrived.
    - `attempts`: How often sending was begun.
    - `not_before`: When it may be sent at the earliest.
    - `message`: The sent message; None before that.
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
    """Why sending was given up; "" if it was not."""

    @property
    def kind(self) -> OutboxKind:
        """The kind of the message's payload, as the table names it."""
        return _columns(self.payload)[0]


LONGEST_SILENCE = 3 * 3600.0
"""Longest delay before a retry, in seconds; the longest that a platform was reported to demand is 10,323."""


_THAT: Final = given(outbox.c.id)
_IS_OPEN: Final = outbox.c.state.in_(("pending", "sending"))
_EARLIER: Final = outbox.alias("earlier")
_UNCERTAIN: Final = update(outbox).where(outbox.c.state == "sending").values(state="pending", uncertain=True)
_NO_LATER: Final = (
    update(outbox)
    .where(outbox.c.state == "pending", outbox.c.not_before > bindparam("latest"))
    .values(not_before=bindparam("latest"))
)
_ADD: Final = insert(outbox, ("task", "kind", "subject", "name", "created"))
_PENDING: Final = (
    select(outbox)
    .where(
        # The first condition and id + 0 make SQLite use the small index of open rows instead of reading all sent ones.
        _IS_OPEN,
        outbox.c.state == "pending",
        ~exists().where(
            _EARLIER.c.task == outbox.c.task,
            _EARLIER.c.id <= outbox.c.id,
            or_(
                _EARLIER.c.state == "sending",
                (_EARLIER.c.state == "pending") & (_EARLIER.c.not_before > bindparam("now")),
            ),
        ),
    )
    .order_by(outbox.c.id + 0)
)
_SENDING: Final = (
    update(outbox)
    .where(
        _THAT,
        outbox.c.state == "pending",
        ~exists().where(
            _EARLIER.c.task == outbox.c.task,
            _EARLIER.c.id < outbox.c.id,
            _EARLIER.c.state.in_(("pending", "sending")),
        ),
    )
    .values(state="sending", attempts=outbox.c.attempts + 1)
    .returning(outbox.c.id)
)
_SENT: Final = update(outbox).where(_THAT).values(state="sent", message=bindparam("message"))
_RETRY: Final = update(outbox).where(_THAT).values(state="pending", not_before=bindparam("not_before"))
_DEAD: Final = update(outbox).where(_THAT).values(state="dead", why=bindparam("why"))
_IS_QUESTION: Final = given(outbox.c.task) & (outbox.c.kind == "question")
_UNASK: Final = (
    delete(outbox)
    .where(
        _IS_QUESTION,
        outbox.c.state == "sent",
        outbox.c.subject.in_(select(questions.c.id).where(questions.c.answer.is_(None), ~questions.c.expired)),
    )
    .returning(outbox.c.subject)
)
_OF: Final = select(outbox).where(given(outbox.c.task)).order_by(outbox.c.id)
_ASKED: Final = _OF.where(outbox.c.kind == "question", outbox.c.state == "pending")


class Outbox:
    """The table of messages to send. Messages of one task are sent in the order in which they were added."""

    def __init__(self, database: Database, webhooks: Webhooks) -> None:
        self._database = database
        self._webhooks = webhooks

    async def recover(self, now: float, *, patience: float = 0.0) -> None:
        """Repair the table at start: messages that were being sent when the process died become pending, marked as
        uncertain.

        No retry stays later than `LONGEST_SILENCE` after `now` (Unix seconds), in case the clock was set back. See
        `Database.write` for `patience`.
        """
        no_later = (_NO_LATER, {"latest": now + LONGEST_SILENCE})
        await self._database.write(in_turn((_UNCERTAIN, {}), no_later), patience=patience)

    async def add(self, transaction: Transaction, task: str, payload: Payload, *, now: float) -> None:
        """Add a message of a task, and what webhooks get about it, in this transaction. Raises StoreConflict for a
        second final message.
        """
        await self._add(transaction, task, payload, now=now)
        match payload:
            case FinalPayload():
                await self._webhooks.queue(transaction, task, now=now)
            case QuestionPayload(question):
                await self._webhooks.queue(transaction, task, question=question, now=now)
            case _:
                pass

    async def _add(self, transaction: Transaction, task: str, payload: Payload, *, now: float) -> None:
        kind, subject, name = _columns(payload)
        values = {"task": int(task), "kind": kind, "subject": subject, "name": name, "created": now}
        await transaction.fetch(_ADD, values)

    async def pending(self, now: float, source: Source | None = None) -> tuple[OutboxRow, ...]:
        """Return the messages that may be sent now, oldest first. `source` is an open read, if the caller has one.

        A message whose task has an earlier message that is being sent, or is waiting for its retry, is left out.
        """
        return _ROW.read_all(await (source or self._database).fetch(_PENDING, {"now": now}))

    async def sending(self, row: int) -> bool:
        """Mark a message as being sent. Returns False if it may not be sent now: it is no longer pending, or an
        earlier message of its task is still unsent (put off after `pending` was read).
        """
        return bool(await self._database.execute(_SENDING, {"id": row}))

    async def sent(self, row: int, message: MessageRef) -> None:
        """Mark a message as sent and store where it is. Waits while the database cannot be written, since otherwise it
        would be sent again.
        """
        await self._database.execute(_SENT, {"id": row, "message": message_text(message)}, patience=PATIENCE_S)

    async def retry(self, row: int, not_before: float) -> None:
        """Mark a message as not delivered: it is sent again, at `not_before` (Unix seconds) at the earliest."""
        await self._database.execute(_RETRY, {"id": row, "not_before": not_before}, patience=PATIENCE_S)

    async def dead(self, row: int, why: str) -> None:
        """Mark a message as undeliverable for the reason `why`."""
        await self._database.execute(_DEAD, {"id": row, "why": why})

    async def ask_again(self, task: str, *, now: float) -> tuple[OutboxRow, ...]:
        """Queue the task's open questions again as new messages. Returns all its questions that are waiting to be
        sent.
        """

        async def work(transaction: Transaction) -> tuple[OutboxRow, ...]:
            for row in await transaction.fetch(_UNASK, {"task": int(task)}):
                await self._add(transaction, task, QuestionPayload(row["subject"]), now=now)
            return _ROW.read_all(await transaction.fetch(_ASKED, {"task": int(task)}))

        return await self._database.write(work)

    async def of(self, task: str) -> tuple[OutboxRow, ...]:
        """Return all messages of a task, in the order in which they were added."""
        return _ROW.read_all(await self._database.fetch(_OF, {"task": int(task)}))


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


_QUIET = "quiet"
_PAYLOADS: Final[Mapping[OutboxKind, Callable[[str, str], Payload]]] = {
    "final": lambda subject, _: FinalPayload(quiet=subject == _QUIET),
    "question": lambda subject, _: QuestionPayload(subject),
    "notice": lambda subject, _: NoticePayload(Notice(subject)),
    "file": FilePayload,
}
_ROW: Final = Codec(OutboxRow, outbox, own={"payload": lambda row: _PAYLOADS[row["kind"]](row["subject"], row["name"])})


@dataclass(frozen=True, slots=True)
class CardRef:
    """The message that is a task's card in the chat (it shows the task's progress), and when it was sent (Unix
    seconds).
    """

    message: MessageRef
    made: float


_CARD: Final = Codec(CardRef, cards)
_GET_CARD: Final = select(cards).where(given(cards.c.task))
_PUT_CARD: Final = upsert(cards, cards.c.keys())


class Cards(TableAccess):
    """The table that stores which message is each task's card."""

    async def get(self, task: str) -> CardRef | None:
        """Return the task's card; None if it has none yet."""
        return _CARD.first(await self._database.fetch(_GET_CARD, {"task": int(task)}))

    async def put(self, task: str, message: MessageRef, made: float) -> None:
        """Store that this message is now the task's card; `made` is in Unix seconds."""
        await self._database.execute(_PUT_CARD, {**_CARD.values(CardRef(message, made)), "task": int(task)})
