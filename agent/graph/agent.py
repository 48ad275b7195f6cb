"""The agent: builds the main graph and implements the Agent interface with it, with one thread per task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from functools import cache, partial, reduce
from operator import or_
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from agent import request_words
from agent.control import Cancel, Pause, Resume, Signal, Steer, Stopped
from agent.events import Planned, Source, TaskEnded, TaskEvent, Todo, stream_events
from agent.graph.main.context import TaskContext, TaskSession
from agent.graph.main.nodes.executor import executor
from agent.graph.main.nodes.intent_analyzer import intent_analyzer
from agent.graph.main.nodes.member import member
from agent.graph.main.nodes.plan_generator import plan_generator
from agent.graph.main.nodes.plan_supervisor import plan_supervisor
from agent.graph.main.nodes.summarizer import summarizer
from agent.graph.main.state import MainState, begun, folded, joined
from agent.graph.member.members import Members
from agent.graph.subjects import spent
from agent.limits import Allowance
from agent.local_time import LocalTimes
from agent.ports.agent import TaskOrder
from agent.ports.memory import Knowledge, Memory
from agent.ports.runner import Runner
from agent.questions import Answer
from agent.run import Outcome
from agent.run_config import RunConfig, RunConfigSource
from agent.skills.library import Skills

logger = logging.getLogger(__name__)


MainGraph = CompiledStateGraph[MainState, TaskContext, MainState, MainState]


@cache
def main_graph() -> MainGraph:
    """Return the compiled main graph, without a checkpointer. The nodes' return types define its routes. Nodes hold no
    data of a task, so all agents of the process share it: reading their types and code takes 15 ms.
    """
    graph = StateGraph(MainState, context_schema=TaskContext)
    graph.add_node("intent_analyzer", intent_analyzer)
    graph.add_node("plan_generator", plan_generator)
    graph.add_node("plan_supervisor", plan_supervisor)
    graph.add_node("executor", executor)
    graph.add_node("member", member)
    graph.add_node("summarizer", summarizer)
    graph.add_edge(START, "intent_analyzer")
    graph.add_edge("summarizer", END)
    return graph.compile(name="task")


MAX_ROUNDS = 200
"""Graph steps that a task may take beyond those that its limits imply, for notes that arrive while the task is ending.
"""


class GraphAgent:
    """Implements `agent.ports.agent.Agent` with the main graph and a runner, which executes the work on a phone.

    A task keeps the configuration with which it began or was continued after a restart. The optional services:
    `knowledge` is searched before planning, `allowance` is a quota beyond each task's limits, `members` are team
    members that work without a phone, `memory` stores facts about people, `skills` are instructions to follow, and
    `local_times` provides the date and time for requests.
    """

    def __init__(
        self,
        configs: RunConfigSource,
        runner: Runner,
        checkpointer: BaseCheckpointSaver[str],
        *,
        knowledge: Knowledge | None = None,
        allowance: Allowance | None = None,
        members: Members | None = None,
        memory: Memory | None = None,
        skills: Skills | None = None,
        local_times: LocalTimes | None = None,
    ) -> None:
        self._configs = configs
        self._runner = runner
        self._context = partial(
            TaskContext,
            runner=runner,
            knowledge=knowledge,
            allowance=allowance,
            members=members,
            memory=memory,
            skills=skills or Skills(),
            local_times=local_times,
        )
        self._graph = main_graph().copy({"checkpointer": checkpointer})
        self._sessions: dict[str, TaskSession] = {}

    def work(self, order: TaskOrder) -> AsyncGenerator[TaskEvent, None]:
        """Begin or continue a task, and yield its events. Implements `Agent.work`."""
        return stream_events(partial(self._work, order))

    async def answer(self, task: str, answer: Answer) -> None:
        """Deliver the answer to the open question of this task. Implements `Agent.answer`."""
        session = await self._going(task)
        if session is not None:
            # The members and the run both get the answer; the one that did not ask ignores it.
            session.answers.give(answer)
            await self._runner.answer(session.run, answer)

    async def steer(self, task: str, note: str) -> None:
        """Leave a note for this task, which both the planner and the run on the phone read. Implements
        `Agent.steer`.
        """
        await self._signal(task, Steer(note=note))

    async def pause(self, task: str) -> None:
        """Pause this task. Raises TimeoutError if the work does not stop in time. Implements `Agent.pause`."""
        await self._signal(task, Pause())

    async def resume(self, task: str, note: str = "") -> None:
        """Continue this task after a pause; `note` is for the agent to read first. Implements `Agent.resume`."""
        await self._signal(task, Resume(note=note))

    async def cancel(self, task: str) -> None:
        """End this task. Implements `Agent.cancel`."""
        await self._signal(task, Cancel())

    async def shutdown(self) -> None:
        """Stop all tasks at their next safe point, to be continued later. Implements `Agent.shutdown`."""
        for session in self._sessions.values():
            session.control.drain()
        await self._runner.shutdown()

    def _session(self, task: str) -> TaskSession:
        return self._sessions.setdefault(task, TaskSession(task, self._runner))

    async def _going(self, task: str) -> TaskSession | None:
        """Return the session of a task that is in progress or may still begin; None if the task has ended."""
        if task not in self._sessions and _has_ended(await self._graph.aget_state(_thread_of(task))):
            return None
        return self._session(task)

    async def _signal(self, task: str, signal: Signal) -> None:
        session = await self._going(task)
        if session is not None:
            await session.signal(signal)

    async def _work(self, order: TaskOrder, emit: Callable[[TaskEvent], None]) -> None:
        config = self._configs.take()
        loading = asyncio.ensure_future(asyncio.to_thread(request_words.load))
        try:
            session = self._session(order.task)
            async with session.lock:
                state = await self._run(order, session, config, emit)
                # Forgotten first, so that what comes meanwhile does not begin the run anew.
                self._sessions.pop(order.task, None)
                await self._runner.release(session.run)
            emit(_ended(state))
        except (GraphDrained, Stopped):
            logger.info("task %s stops at a safe point", order.task)
        finally:
            self._configs.give_back(config)
            await loading

    async def _run(
        self, order: TaskOrder, session: TaskSession, config: RunConfig, emit: Callable[[TaskEvent], None]
    ) -> MainState:
        """Return the state with which the main graph ended, now or in an earlier process."""
        limits = config.limits
        thread = _thread_of(order.task)
        thread["recursion_limit"] = 3 * (limits.subtasks + limits.replans) + MAX_ROUNDS
        state = await self._graph.aget_state(thread)
        # Before the input is processed, some savers return a state with empty subjects, others none.
        has_begun = bool(state.values.get("order"))
        known = cast("MainState", state.values) if has_begun else begun(order)
        session.begin(limits.seconds, known["progress"]["seconds"], known["progress"]["phone"])
        if _has_ended(state):
            return known
        context = self._context(
            session,
            config.models.with_lead_model(order.guidance.model),
            emit=emit,
            limits=limits,
            deep_thinking=config.deep_thinking,
            guidance=order.guidance,
        )
        if todos := _todos_of(state):
            # Events from before a crash may be lost, and later ones only come when something changes.
            session.todos = todos
            emit(Planned(plan=known["plan"]["text"], todos=todos))
        payload = None if has_begun else known
        await self._graph.ainvoke(payload, thread, context=context, durability="sync", control=session.control.graph)
        return cast("MainState", (await self._graph.aget_state(thread)).values)


def _thread_of(task: str) -> RunnableConfig:
    return {"configurable": {"thread_id": f"task:{task}"}}


def _has_ended(state: StateSnapshot) -> bool:
    """Whether the task of this stored state has ended, rather than not begun or stopped on the way."""
    # `next` is also empty between a node's end and the next checkpoint; `tasks` only at the very end.
    return bool(state.values.get("order")) and not state.tasks


def _todos_of(state: StateSnapshot) -> tuple[Todo, ...]:
    """Return the sub-tasks of a continued task, with the results of those that ended before it stopped."""
    if not state.values.get("plan", {}).get("todos"):
        return ()
    ended = [task.result["reports"] for task in state.tasks if task.result and task.result.get("reports")]
    reports: MainState = {"reports": reduce(or_, ended, state.values.get("reports", {}))}
    known = joined(cast("MainState", state.values), reports)
    return tuple(Todo.model_validate(todo) for todo in joined(known, folded(known))["plan"]["todos"])


def _ended(state: MainState) -> TaskEnded:
    ending, progress, findings = state["ending"], state["progress"], state["findings"]
    return TaskEnded(
        outcome=Outcome(ending["outcome"]),
        summary=ending["summary"],
        data=ending["data"],
        value=ending["value"],  # type: ignore[arg-type]  # plain data, which is validated here
        needs_model=ending["needs_model"],  # type: ignore[arg-type]  # the same
        steps=progress["steps"],
        usage=spent(progress),
        frame=findings["frame"],
        sources=tuple(Source.model_validate(page) for page in findings["sources"]),
    )
