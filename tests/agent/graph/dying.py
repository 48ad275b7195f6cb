"""Checkpoints of a process that dies at a chosen moment, and the life of one process after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agent.events import Asked, TaskEnded, TaskEvent
from agent.ports.agent import Agent, TaskOrder
from agent.questions import Answer, QuestionKind
from tests.agent.graph.rig import LIMIT

Moment = Literal["begins", "has run"]


class DyingSaver(AsyncSqliteSaver):
    """The real saver on a file, until a node begins (its predecessors are stored) or has run (it is not stored).

    There it stands still for ever: the process is as good as dead, `reached` says so. `visit` counts from 1.
    """

    def __init__(
        self, connection: aiosqlite.Connection, node: str = "", moment: Moment = "begins", visit: int = 1
    ) -> None:
        super().__init__(connection)
        self._node = node
        self._moment = moment
        self._visits_left = visit
        self.reached = asyncio.Event()
        self.buried = asyncio.Event()
        """Lets go of what waits here, once nothing of the process can go on any more; nothing is stored then."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        if self.reached.is_set():
            await self.buried.wait()  # what is dead stores nothing more, in no thread
            return config
        stored = await super().aput(config, checkpoint, metadata, new_versions)
        # What waits for its first node has its input, under the name of the start, and no node yet.
        waits = {f"branch:to:{self._node}", self._node} & checkpoint["channel_values"].keys()
        if self._moment == "begins" and waits:
            await self._die()
        return stored

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        if self.reached.is_set():
            await self.buried.wait()
            return
        if self._moment == "has run" and task_path.endswith(f", {self._node}"):
            await self._die()
            if self.reached.is_set():
                return
        await super().aput_writes(config, writes, task_id, task_path)

    async def _die(self) -> None:
        self._visits_left -= 1
        if self._visits_left == 0:
            self.reached.set()
            await self.buried.wait()


class Lives:
    """One process after the other on the same files."""

    def __init__(self, path: Path, *, approve: str = "allow") -> None:
        self._path = path
        self._approve = approve
        self.events: list[TaskEvent] = []

    async def connect(self) -> aiosqlite.Connection:
        """The checkpoint file, opened by a new process."""
        return await aiosqlite.connect(self._path)

    async def live(self, agent: Agent, order: TaskOrder, saver: DyingSaver) -> TaskEnded | None:
        """Work until the end, answering every question; None when the process died before."""
        work = asyncio.create_task(self._work(agent, order))
        death = asyncio.create_task(saver.reached.wait())
        async with asyncio.timeout(LIMIT):
            await asyncio.wait({work, death}, return_when=asyncio.FIRST_COMPLETED)
        death.cancel()
        if work.done():
            return work.result()
        work.cancel()
        saver.buried.set()
        await asyncio.wait({work})
        return None

    async def _work(self, agent: Agent, order: TaskOrder) -> TaskEnded | None:
        async for event in agent.work(order):
            self.events.append(event)
            if isinstance(event, Asked):
                text = self._approve if event.question.kind is QuestionKind.APPROVE else "blue"
                await agent.answer(order.task, Answer(question=event.question.id, text=text))
            if isinstance(event, TaskEnded):
                return event
        return None
