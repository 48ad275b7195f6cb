"""EchoMind: an agent without model and phone that says what it would do. It shows the way from a chat and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from agent.control import Control, Stopped
from agent.events import Asked, Resumed, Started, Step, TaskEnded, TaskEvent
from agent.models.base import Usage
from agent.ports.agent import TaskOrder
from agent.questions import DENY, Answer, Question, QuestionKind
from agent.run import Outcome, RunId

ECHO_PHONE = "echo"

Result = TypeVar("Result")


async def _at_once(_task: str, _step: int) -> None:
    """Every step is done without delay."""


@dataclass
class _Echo:
    control: Control = field(default_factory=Control)
    notes: list[str] = field(default_factory=list)
    answers: asyncio.Queue[Answer] = field(default_factory=asyncio.Queue)


class EchoMind:
    """Implements agent.ports.agent.Agent: started, some steps, one question if wished, ended.

    `before_step(task, step)` is awaited before each step and may take its time; what a person does meanwhile
    (pause, cancel, shutdown) takes effect at once. Nothing is kept: after a restart a task begins anew, with the
    same ids.
    """

    def __init__(
        self,
        *,
        steps: int = 2,
        question: QuestionKind | None = None,
        before_step: Callable[[str, int], Awaitable[None]] = _at_once,
    ) -> None:
        self._steps = steps
        self._question = question
        self._before_step = before_step
        self._echoes: dict[str, _Echo] = {}

    async def work(self, order: TaskOrder) -> AsyncIterator[TaskEvent]:
        """See Agent. The question comes after the first step."""
        echo = self._echo(order.task)
        run = RunId(order.task)
        try:
            phone = order.phone or ECHO_PHONE
            yield Started(run=run, phone=phone, phone_name=phone.capitalize())
            for number in range(1, self._steps + 1):
                await self._guarded(echo, partial(self._step, order.task, number))
                heard = "; ".join(echo.notes)
                echo.notes.clear()
                yield Step(
                    run=run,
                    subtask=1,
                    step=number,
                    max_steps=order.max_steps,
                    summary=f"echo {number} of {self._steps}",
                    thought=heard,
                    usage=Usage(calls=number),
                )
                if number == 1 and self._question is not None:
                    question = Question(id=f"{run}-q1", run=run, kind=self._question, text=f"{order.text}?")
                    yield Asked(question=question)
                    answer = await self._guarded(echo, partial(self._answer, echo, question.id))
                    if answer.expired or answer.text == DENY:
                        why = "Nobody answered in time." if answer.expired else "It was not allowed."
                        yield TaskEnded(outcome=Outcome.BLOCKED, summary=why, steps=number, usage=Usage(calls=number))
                        return
                    yield Resumed(question=question.id)
            yield TaskEnded(
                outcome=Outcome.SUCCEEDED,
                summary=f"Echo: {order.text}",
                steps=self._steps,
                usage=Usage(calls=self._steps),
            )
        except Stopped:
            if echo.control.cancelled:
                yield TaskEnded(outcome=Outcome.CANCELLED, summary="")
        finally:
            self._echoes.pop(order.task, None)

    async def answer(self, task: str, answer: Answer) -> None:
        """See Agent."""
        self._echo(task).answers.put_nowait(answer)

    async def steer(self, task: str, note: str) -> None:
        """See Agent. The next step's thought repeats it."""
        self._echo(task).notes.append(note)

    async def pause(self, task: str) -> None:
        """See Agent."""
        self._echo(task).control.pause()

    async def resume(self, task: str, note: str = "") -> None:
        """See Agent."""
        if note:
            await self.steer(task, note)
        self._echo(task).control.resume()

    async def cancel(self, task: str) -> None:
        """See Agent."""
        self._echo(task).control.cancel()

    async def shutdown(self) -> None:
        """See Agent."""
        for echo in self._echoes.values():
            echo.control.drain()

    def _echo(self, task: str) -> _Echo:
        return self._echoes.setdefault(task, _Echo())

    async def _step(self, task: str, number: int) -> None:
        await self._before_step(task, number)

    @staticmethod
    async def _answer(echo: _Echo, question: str) -> Answer:
        while (answer := await echo.answers.get()).question != question:
            pass
        return answer

    @staticmethod
    async def _guarded(echo: _Echo, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Do the work; after a pause, anew. Raises Stopped when the task is to end or the service stops."""
        while True:
            await echo.control.wait_while_paused()
            try:
                return await echo.control.guard(work())
            except Stopped:
                if echo.control.cancelled or echo.control.draining:
                    raise
