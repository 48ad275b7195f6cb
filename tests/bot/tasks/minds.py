"""Minds that behave as no mind should."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from agent.events import TaskEvent
from agent.ports.agent import TaskOrder
from agent.questions import Answer


class ScriptedMind:
    """Works as its script says, and records what it is asked for. `hanging` names the requests that never return."""

    def __init__(self, script: Callable[[TaskOrder], AsyncIterator[TaskEvent]], hanging: tuple[str, ...] = ()) -> None:
        self._script = script
        self._hanging = hanging
        self.asked: list[tuple[str, str]] = []
        self.answers: asyncio.Queue[Answer] = asyncio.Queue()
        self.broken: Exception | None = None

    def work(self, order: TaskOrder) -> AsyncIterator[TaskEvent]:
        return self._script(order)

    async def answer(self, task: str, answer: Answer) -> None:
        await self._note("answer", task)
        self.answers.put_nowait(answer)

    async def steer(self, task: str, note: str) -> None:
        await self._note("steer", f"{task} {note}")

    async def pause(self, task: str) -> None:
        await self._note("pause", task)

    async def resume(self, task: str, note: str = "") -> None:
        await self._note("resume", f"{task} {note}")

    async def cancel(self, task: str) -> None:
        await self._note("cancel", task)

    async def shutdown(self) -> None:
        await self._note("shutdown", "")

    async def _note(self, what: str, detail: str) -> None:
        self.asked.append((what, detail))
        if self.broken is not None:
            raise self.broken
        if what in self._hanging:
            await asyncio.Event().wait()
