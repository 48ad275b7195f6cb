"""The table of questions to people and their answers. Secret answers are never stored: the caller passes "" instead."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, func, or_, select, update

from agent.questions import Question, QuestionKind
from bot.domain.address import Address, MessageRef
from bot.domain.task import Closing, OpenQuestion, locator
from bot.store.codec import Codec, address_text, message_text
from bot.store.database import JsonField, Parameters, Source, TableAccess, Transaction, given, in_turn, insert
from bot.store.tables.chats import questions
from bot.store.tables.metadata import Number
from bot.store.tables.tasks import tasks

_QUESTION: Final = Codec(OpenQuestion, questions)
_IS_OPEN: Final = questions.c.answer.is_(None) & ~questions.c.expired
_THAT: Final = given(questions.c.id)
_ADD: Final = (
    insert(questions, ("id", "locator", "task", "question", "asked", "expires"))
    .on_conflict_do_nothing()
    .returning(questions.c.id)
)
_ANSWER: Final = (
    update(questions)
    .where(_THAT, _IS_OPEN, questions.c.expires > bindparam("now"))
    .values(answer=bindparam("answer"), answered_by=bindparam("by"), closed=bindparam("now"))
    .returning(questions.c.id)
)
_IS_DUE: Final = _IS_OPEN & (questions.c.expires <= bindparam("now"))
_DUE: Final = select(questions.c.id).where(_IS_DUE).limit(1)
_CLOSE: Final = (
    update(questions).values(expired=True, closed=bindparam("now"), closing=bindparam("why")).returning(questions)
)
_EXPIRE: Final = _CLOSE.where(_IS_DUE)
_CLOSE_OF_TASK: Final = _CLOSE.where(_IS_OPEN, given(questions.c.task))
_CLOSE_ONE: Final = _CLOSE_OF_TASK.where(_THAT)
_GET: Final = select(questions).where(_THAT)
_ALL: Final = select(questions).order_by(questions.c.asked, questions.c.id)
_TASK: Final = bindparam("task", type_=Number)
_OF: Final = _ALL.join(tasks).where(or_(tasks.c.id == _TASK, tasks.c.parent == _TASK))
_OPEN: Final = _ALL.where(_IS_OPEN)
_OPEN_OF: Final = _OF.where(_IS_OPEN)
_WHOLE: Final = tasks.alias("whole")
_IS_WHOLE: Final = _WHOLE.c.id == func.coalesce(tasks.c.parent, tasks.c.id)
_OPEN_IN: Final = _OPEN.select_from(questions.join(tasks).join(_WHOLE, _IS_WHOLE)).where(
    func.coalesce(_WHOLE.c.place, _WHOLE.c.origin) == bindparam("place")
)
_CLOSED: Final = (
    select(questions)
    .where(
        or_(questions.c.answer.is_not(None), questions.c.expired),
        questions.c.asked <= bindparam("asked_by"),
        questions.c.expires >= bindparam("ends_from"),
        JsonField(questions.c.question, "kind") == bindparam("kind"),
    )
    .order_by(questions.c.asked.desc(), questions.c.id)
)
_BY_MESSAGE: Final = select(questions).where(given(questions.c.message))
_BY_LOCATOR: Final = select(questions).where(given(questions.c.locator))
_SHOWN: Final = update(questions).where(_THAT).values(message=bindparam("message"))
_MOVE_QUESTIONS: Final = (
    update(questions)
    .where(_IS_OPEN)
    .values(asked=questions.c.asked + bindparam("by"), expires=questions.c.expires + bindparam("by"))
)
_MOVE_TASKS: Final = (
    update(tasks).where(tasks.c.state == "interrupted").values(changed=tasks.c.changed + bindparam("by"))
)


class Questions(TableAccess):
    """The table of questions that tasks ask people. A question is open until it is answered, expires or is closed."""

    async def add(self, transaction: Transaction, task: str, question: Question, *, now: float, expires: float) -> bool:
        """Store a question. Returns False and changes nothing if it is stored already. Times are Unix seconds."""
        values: Parameters = {
            "id": question.id,
            "locator": locator(question.id),
            "task": int(task),
            "question": question.model_dump_json(),
            "asked": now,
            "expires": expires,
        }
        return bool(await transaction.fetch(_ADD, values))

    async def answer(self, transaction: Transaction, question: str, text: str, *, by: str, now: float) -> bool:
        """Store the answer, unless the question is closed or its time is over. Returns whether it was stored.

        `by` says who answered. The first answer wins.
        """
        values: Parameters = {"id": question, "answer": text, "by": by, "now": now}
        return bool(await transaction.fetch(_ANSWER, values))

    async def due(self, now: float) -> bool:
        """Return whether there are open questions whose time is over at `now` (Unix seconds)."""
        return bool(await self._database.fetch(_DUE, {"now": now}))

    async def expire(self, transaction: Transaction, *, now: float) -> tuple[OpenQuestion, ...]:
        """Close the open questions whose time is over at `now`, and return them."""
        rows = await transaction.fetch(_EXPIRE, {"now": now, "why": Closing.EXPIRED.value})
        return _QUESTION.read_all(rows)

    async def close(
        self, transaction: Transaction, task: str, question: str | None = None, *, why: Closing, now: float
    ) -> tuple[OpenQuestion, ...]:
        """Close the task's open questions, or only the one with the id `question`, without an answer, and return
        them.
        """
        values = {"task": int(task), "id": question, "now": now, "why": why.value}
        statement = _CLOSE_OF_TASK if question is None else _CLOSE_ONE
        return _QUESTION.read_all(await transaction.fetch(statement, values))

    async def get(self, question: str, source: Source | None = None) -> OpenQuestion | None:
        """Return the question with this id; None if there is none. `source` is an open transaction to read in."""
        return _QUESTION.first(await (source or self._database).fetch(_GET, {"id": question}))

    async def open(
        self, task: str | None = None, place: Address | None = None, source: Source | None = None
    ) -> tuple[OpenQuestion, ...]:
        """Return the open questions, oldest first: those of a task and its parts, or those shown in a place, or all."""
        source = source or self._database
        if task is not None:
            rows = await source.fetch(_OPEN_OF, {"task": int(task)})
        elif place is not None:
            rows = await source.fetch(_OPEN_IN, {"place": address_text(place)})
        else:
            rows = await source.fetch(_OPEN)
        return _QUESTION.read_all(rows)

    async def of(self, task: str) -> tuple[OpenQuestion, ...]:
        """Return all questions of a task and of its parts, open or closed, in the order in which they were asked."""
        return _QUESTION.read_all(await self._database.fetch(_OF, {"task": int(task)}))

    async def closed(self, kind: QuestionKind, *, asked_by: float, ends_from: float) -> tuple[OpenQuestion, ...]:
        """Return the closed questions of a kind, the latest first.

        Only those asked at or before `asked_by` whose time runs out at or after `ends_from`; both are Unix seconds.
        """
        values = {"asked_by": asked_by, "ends_from": ends_from, "kind": kind.value}
        return _QUESTION.read_all(await self._database.fetch(_CLOSED, values))

    async def by_message(self, message: MessageRef) -> OpenQuestion | None:
        """Return the question that was sent as this message; None if there is none."""
        return _QUESTION.first(await self._database.fetch(_BY_MESSAGE, {"message": message_text(message)}))

    async def by_locator(self, locator: str) -> OpenQuestion | None:
        """Return the question, open or closed, with this locator (the short id in its buttons); None if there is
        none.
        """
        return _QUESTION.first(await self._database.fetch(_BY_LOCATOR, {"locator": locator}))

    async def shown(self, question: str, message: MessageRef) -> None:
        """Record that the question was sent as this message."""
        await self._database.execute(_SHOWN, {"id": question, "message": message_text(message)})


class Deadlines(TableAccess):
    """The stored deadlines: of open questions, and of interrupted tasks that wait for a person to resume them."""

    async def move(self, seconds: float) -> None:
        """Shift all deadlines by `seconds`, by which the system clock was set, so that nobody has less time than
        before.
        """
        by = {"by": seconds}
        await self._database.write(in_turn((_MOVE_QUESTIONS, by), (_MOVE_TASKS, by)))
