"""Closes unanswered questions, and records when and why in the log and the audit."""

from __future__ import annotations

from collections.abc import Callable

from agent.run import Outcome
from bot.domain.task import Closing, OpenQuestion, Task
from bot.domain.task_events import QuestionClosed
from bot.store.audit import AuditKind
from bot.store.connection import Transaction
from bot.store.store import Store


class QuestionClosing:
    """Closes questions that got no answer. `clock` returns Unix seconds."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    async def by_end(self, transaction: Transaction, ended: Task) -> None:
        """Close the questions of a task that has ended."""
        why = Closing.CANCELLED if ended.outcome is Outcome.CANCELLED else Closing.ENDED
        await self._tell(
            transaction, await self._store.questions.close(transaction, ended.id, why=why, now=self._clock())
        )

    async def by_going_on(self, transaction: Transaction, task: str, question: str) -> None:
        """Close a question of a task that continued without an answer. This is not recorded in the audit."""
        await self._tell(
            transaction,
            await self._store.questions.close(transaction, task, question, why=Closing.WENT_ON, now=self._clock()),
        )

    async def give_up(self, task: str, question: str) -> None:
        """Close a question of a task because nobody will answer it."""

        async def work(transaction: Transaction) -> None:
            questions, now = self._store.questions, self._clock()
            closed = await questions.close(transaction, task, question, why=Closing.GIVEN_UP, now=now)
            await self._tell(transaction, closed)

        await self._store.write(work)

    async def expire(self, now: float) -> tuple[OpenQuestion, ...]:
        """Close the questions that have expired at `now` (Unix seconds), and return them. Writes nothing if there are
        none.
        """
        if not await self._store.questions.due(now):
            return ()

        async def work(transaction: Transaction) -> tuple[OpenQuestion, ...]:
            expired = await self._store.questions.expire(transaction, now=now)
            await self._tell(transaction, expired)
            return expired

        return await self._store.write(work)

    async def _tell(self, transaction: Transaction, closed: tuple[OpenQuestion, ...]) -> None:
        for one in closed:
            task = await self._store.tasks.get(one.task, transaction)
            assert task is not None, "a task has asked it"
            closing = QuestionClosed(question=one.question.id, why=one.closing)
            await self._store.task_events.append(transaction, task, closing)
            if one.closing is not Closing.WENT_ON:
                why = "" if one.closing is None else one.closing.value
                await self._store.audit.add(transaction, AuditKind.UNANSWERED, task.person, task=task.id, detail=why)
