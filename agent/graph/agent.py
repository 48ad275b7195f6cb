"""GraphAgent: the Agent on LangGraph, one thread of the main graph for each task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from agent.control import Control, Stopped
from agent.event_stream import pumped
from agent.events import TaskEnded, TaskEvent
from agent.graph.executor.state import usage_data
from agent.graph.main.build import build_main
from agent.graph.main.context import Calls, TaskContext
from agent.graph.main.state import MainState, spent
from agent.graph.main.stopwatch import Stopwatch
from agent.limits import Allowance
from agent.models.base import Usage
from agent.outcome import Outcome
from agent.ports.agent import TaskOrder
from agent.ports.knowledge import Knowledge
from agent.ports.runner import Runner
from agent.questions import Answer
from agent.run_config import RunConfig, RunConfigSource
from agent.run_id import RunId

logger = logging.getLogger(__name__)

STAND_STILL_S = 5.0
"""A model call that was cut off may take that long to let go."""
MAX_ROUNDS = 200
"""Nodes of one task beyond those that its limits allow: notes written while the end is being decided add some."""


@dataclass
class _ActiveTask:
    control: Control = field(default_factory=Control)
    drain: RunControl = field(default_factory=RunControl)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    calls: Calls = field(default_factory=Calls)
    watch: Stopwatch = field(default_factory=Stopwatch)


class GraphAgent:
    """Implements agent.ports.agent.Agent with the main graph and a runner.

    A task keeps the terms of the moment in which it begins, or is continued after a restart. `knowledge` is searched
    before planning, None for no search; `allowance` is what there is beyond the limits of each task.
    """

    def __init__(
        self,
        terms: RunConfigSource,
        runner: Runner,
        checkpointer: BaseCheckpointSaver[str],
        *,
        knowledge: Knowledge | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self._terms = terms
        self._runner = runner
        self._knowledge = knowledge
        self._allowance = allowance
        self._graph = build_main(checkpointer)
        self._tasks: dict[str, _ActiveTask] = {}

    async def work(self, order: TaskOrder) -> AsyncIterator[TaskEvent]:
        """See Agent."""
        terms = self._terms.take()
        try:
            async with aclosing(self._worked(order, terms)) as events:
                async for event in events:
                    yield event
        finally:
            self._terms.give_back(terms)

    async def _worked(self, order: TaskOrder, terms: RunConfig) -> AsyncGenerator[TaskEvent, None]:
        active, limits = self._task(order.task), terms.limits
        async with active.lock:
            config: RunnableConfig = {
                "configurable": {"thread_id": f"task:{order.task}"},
                "recursion_limit": 3 * (limits.subtasks + limits.replans) + MAX_ROUNDS,
            }
            state = await self._graph.aget_state(config)
            active.watch = Stopwatch(limits.seconds, before=state.values.get("seconds", 0.0))
            if active.control.paused:
                active.watch.hold("pause")
            if not state.values or state.next:
                payload = None if state.values else _fresh(order)
                try:
                    work = partial(self._run, order.task, active, terms, payload, config)
                    events: AsyncIterator[TaskEvent] = pumped(work)
                    async for event in events:
                        yield event
                except (GraphDrained, Stopped):
                    logger.info("task %s stops at a safe point", order.task)
                    return
                state = await self._graph.aget_state(config)
            await self._runner.release(RunId(order.task))
            self._tasks.pop(order.task, None)
            yield _ended(state.values)

    async def answer(self, task: str, answer: Answer) -> None:
        """See Agent."""
        await self._runner.answer(RunId(task), answer)

    async def steer(self, task: str, note: str) -> None:
        """See Agent."""
        # Both read it: who plans, and who works on the phone.
        self._task(task).control.note(note)
        await self._runner.steer(RunId(task), note)

    async def pause(self, task: str) -> None:
        """See Agent. Raises TimeoutError when the work does not stand still in time."""
        active = self._task(task)
        active.watch.hold("pause")
        active.control.pause()
        await self._runner.pause(RunId(task))
        if active.calls.running:
            async with asyncio.timeout(STAND_STILL_S):
                await active.control.wait_standing()

    async def resume(self, task: str, note: str = "") -> None:
        """See Agent."""
        active = self._task(task)
        if note:
            active.control.note(note)
        active.control.resume()
        active.watch.go("pause")
        await self._runner.resume(RunId(task), note)

    async def cancel(self, task: str) -> None:
        """See Agent."""
        self._task(task).control.cancel()
        await self._runner.cancel(RunId(task))

    async def shutdown(self) -> None:
        """See Agent."""
        for active in self._tasks.values():
            active.drain.request_drain()
            active.control.drain()
        await self._runner.shutdown()

    def _task(self, task: str) -> _ActiveTask:
        return self._tasks.setdefault(task, _ActiveTask())

    async def _run(
        self,
        task: str,
        active: _ActiveTask,
        terms: RunConfig,
        payload: MainState | None,
        config: RunnableConfig,
        emit: Callable[[TaskEvent], None],
    ) -> None:
        context = TaskContext(
            terms.models,
            self._runner,
            active.control,
            emit,
            limits=terms.limits,
            watch=active.watch,
            calls=active.calls,
            knowledge=self._knowledge,
            deep_thinking=terms.deep_thinking,
            task=task,
            allowance=self._allowance,
        )
        await self._graph.ainvoke(payload, config, context=context, durability="sync", control=active.drain)


def _fresh(order: TaskOrder) -> MainState:
    return {
        "task": order.task,
        "text": order.text,
        "phone": order.phone,
        "quick": order.quick,
        "max_steps": order.max_steps,
        "files": [file.model_dump() for file in order.files],
        "kind": "simple",
        "plan": "",
        "todos": [],
        "current": None,
        "goal": "",
        "subtask": 0,
        "replans": 0,
        "results": [],
        "notes": [],
        "heard": [],
        "seconds": 0.0,
        "usage": usage_data(Usage()),
        "fault": None,
        "summary": "",
        "data": None,
        "steps": 0,
        "frame": None,
    }


def _ended(values: dict[str, Any]) -> TaskEnded:
    state = MainState(**values)  # type: ignore[typeddict-item]  # the graph's own values are its state
    return TaskEnded(
        outcome=Outcome(state["outcome"]),
        summary=state["summary"],
        data=state["data"],
        steps=state["steps"],
        usage=spent(state),
        frame=state["frame"],
    )
