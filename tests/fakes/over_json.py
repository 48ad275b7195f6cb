"""A runner and an agent behind a wire: whatever is said to them and whatever they tell is JSON in between.

They do what one on another machine would have to do, so what runs with them in between can live elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter

from agent.control import Signal
from agent.events import RunEvent, TaskEvent
from agent.models.base import Usage
from agent.ports.agent import Agent, TaskOrder
from agent.ports.runner import Runner, RunOrder
from agent.questions import Answer
from agent.run import RunId

RUN_EVENT: Final[TypeAdapter[RunEvent]] = TypeAdapter(RunEvent)
TASK_EVENT: Final[TypeAdapter[TaskEvent]] = TypeAdapter(TaskEvent)
SIGNAL: Final[TypeAdapter[Signal]] = TypeAdapter(Signal)

M = TypeVar("M", bound=BaseModel)


def sent(kind: type[M], model: M) -> M:
    """The model as the other side reads it: all of it, and nothing but what JSON can say."""
    return kind.model_validate_json(model.model_dump_json().encode())


class JsonRunner:
    """agent.ports.runner.Runner, and another one behind it. `crossed` are the types of what came back and forth."""

    def __init__(self, behind: Runner) -> None:
        self._behind = behind
        self.crossed: set[str] = set()

    async def start(self, order: RunOrder) -> AsyncIterator[RunEvent]:
        """See Runner."""
        async for event in self._behind.start(self._noted(sent(RunOrder, order))):
            yield self._noted(RUN_EVENT.validate_json(RUN_EVENT.dump_json(event)))

    async def warm_up(self, order: RunOrder) -> None:
        """See Runner."""
        await self._behind.warm_up(self._noted(sent(RunOrder, order)))

    async def cool_down(self, run: RunId) -> Usage:
        """See Runner."""
        return await self._behind.cool_down(_sent_id(run))

    async def answer(self, run: RunId, answer: Answer) -> None:
        """See Runner."""
        await self._behind.answer(_sent_id(run), self._noted(sent(Answer, answer)))

    async def signal(self, run: RunId, signal: Signal) -> None:
        """See Runner."""
        await self._behind.signal(_sent_id(run), self._noted(SIGNAL.validate_json(SIGNAL.dump_json(signal))))

    async def rest(self, run: RunId) -> None:
        """See Runner."""
        await self._behind.rest(_sent_id(run))

    async def release(self, run: RunId) -> None:
        """See Runner."""
        await self._behind.release(_sent_id(run))

    async def shutdown(self) -> None:
        """See Runner."""
        await self._behind.shutdown()

    def _noted(self, model: M) -> M:
        self.crossed.add(type(model).__name__)
        return model


class JsonAgent:
    """agent.ports.agent.Agent, and another one behind it."""

    def __init__(self, behind: Agent) -> None:
        self._behind = behind

    async def work(self, order: TaskOrder) -> AsyncIterator[TaskEvent]:
        """See Agent."""
        async for event in self._behind.work(sent(TaskOrder, order)):
            yield TASK_EVENT.validate_json(TASK_EVENT.dump_json(event))

    async def answer(self, task: str, answer: Answer) -> None:
        """See Agent."""
        await self._behind.answer(_sent(task), sent(Answer, answer))

    async def steer(self, task: str, note: str) -> None:
        """See Agent."""
        await self._behind.steer(_sent(task), _sent(note))

    async def pause(self, task: str) -> None:
        """See Agent."""
        await self._behind.pause(_sent(task))

    async def resume(self, task: str, note: str = "") -> None:
        """See Agent."""
        await self._behind.resume(_sent(task), _sent(note))

    async def cancel(self, task: str) -> None:
        """See Agent."""
        await self._behind.cancel(_sent(task))

    async def shutdown(self) -> None:
        """See Agent."""
        await self._behind.shutdown()


def _sent_id(run: RunId) -> RunId:
    return RunId.parse(_sent(str(run)))


def _sent(text: str) -> str:
    read: Any = json.loads(json.dumps(text).encode())
    assert isinstance(read, str)
    return read
