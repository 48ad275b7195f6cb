"""GraphAgent: the Agent on LangGraph, one thread of the main graph for each task."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from functools import partial, reduce
from operator import or_
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.types import StateSnapshot

from agent.control import Cancel, Pause, Resume, Steer, Stopped
from agent.event_stream import pumped
from agent.events import Planned, Source, TaskEnded, TaskEvent, Todo
from agent.graph.executor.state import spent, usage_data
from agent.graph.main.build import build_main
from agent.graph.main.context import TaskContext
from agent.graph.main.folding import folded
from agent.graph.main.session import Session
from agent.graph.main.state import MainState
from agent.graph.member.members import Members
from agent.limits import Allowance
from agent.models.base import Usage
from agent.outcome import Outcome
from agent.ports.agent import EarlierTask, TaskOrder
from agent.ports.knowledge import Knowledge
from agent.ports.memory import Memory
from agent.ports.runner import Runner
from agent.questions import Answer
from agent.run_config import RunConfig, RunConfigSource
from agent.skills.library import Skills

logger = logging.getLogger(__name__)

MAX_ROUNDS = 200
"""Nodes of one task beyond those that its limits allow: notes written while the end is being decided add some."""


class GraphAgent:
    """Implements agent.ports.agent.Agent with the main graph and a runner.

    A task keeps the terms of the moment in which it begins, or is continued after a restart. `knowledge` is searched
    before planning, None for no search; `allowance` is what there is beyond the limits of each task; `members` do what
    needs no phone, None where there is nobody; `memory` has what people want to be remembered, `skills` are ways of
    doing things.
    """

    def __init__(
        self,
        terms: RunConfigSource,
        runner: Runner,
        checkpointer: BaseCheckpointSaver[str],
        *,
        knowledge: Knowledge | None = None,
        allowance: Allowance | None = None,
        members: Members | None = None,
        memory: Memory | None = None,
        skills: Skills | None = None,
    ) -> None:
        self._terms = terms
        self._runner = runner
        self._knowledge = knowledge
        self._allowance = allowance
        self._members = members
        self._memory = memory
        self._skills = skills or Skills()
        self._graph = build_main(checkpointer)
        self._sessions: dict[str, Session] = {}

    def work(self, order: TaskOrder) -> AsyncGenerator[TaskEvent, None]:
        """See Agent."""
        return pumped(partial(self._work, order))

    async def answer(self, task: str, answer: Answer) -> None:
        """See Agent."""
        session = self._session(task)
        session.give(answer)  # whoever has not asked this question ignores its answer: members here, the run there
        await self._runner.answer(session.run, answer)

    async def steer(self, task: str, note: str) -> None:
        """See Agent. Both read it: who plans, and who works on the phone."""
        await self._session(task).signal(Steer(note=note))

    async def pause(self, task: str) -> None:
        """See Agent. Raises TimeoutError when the work does not stand still in time."""
        await self._session(task).signal(Pause())

    async def resume(self, task: str, note: str = "") -> None:
        """See Agent."""
        await self._session(task).signal(Resume(note=note))

    async def cancel(self, task: str) -> None:
        """See Agent."""
        await self._session(task).signal(Cancel())

    async def shutdown(self) -> None:
        """See Agent."""
        for session in self._sessions.values():
            session.control.drain()
        await self._runner.shutdown()

    def _session(self, task: str) -> Session:
        return self._sessions.setdefault(task, Session(task, self._runner))

    async def _work(self, order: TaskOrder, emit: Callable[[TaskEvent], None]) -> None:
        terms = self._terms.take()
        try:
            session = self._session(order.task)
            async with session.lock:
                values = await self._run(order, session, terms, emit)
                await self._runner.release(session.run)
                self._sessions.pop(order.task, None)
            emit(_ended(values))
        except (GraphDrained, Stopped):
            logger.info("task %s stops at a safe point", order.task)
        finally:
            self._terms.give_back(terms)

    async def _run(
        self, order: TaskOrder, session: Session, terms: RunConfig, emit: Callable[[TaskEvent], None]
    ) -> dict[str, Any]:
        """The values with which the main graph has ended, now or in a former process."""
        limits = terms.limits
        config: RunnableConfig = {
            "configurable": {"thread_id": f"task:{order.task}"},
            "recursion_limit": 3 * (limits.subtasks + limits.replans) + MAX_ROUNDS,
        }
        state = await self._graph.aget_state(config)
        session.begin(limits.seconds, state.values.get("seconds", 0.0), state.values.get("phone", order.phone))
        # `next` is empty between a node's end and the next checkpoint as well, `tasks` only at the end of all.
        if state.values and not state.tasks:
            return state.values
        context = TaskContext(
            session,
            terms.models.led_by(order.guidance.model),
            self._runner,
            emit,
            limits=limits,
            knowledge=self._knowledge,
            deep_thinking=terms.deep_thinking,
            allowance=self._allowance,
            members=self._members,
            memory=self._memory,
            skills=self._skills,
            guidance=order.guidance,
        )
        if todos := _todos_of(state):
            # What was told before a crash may be lost, and whoever goes on tells it only when something changes.
            session.todos = todos
            emit(Planned(plan=state.values["plan"], todos=todos))
        payload = None if state.values else _fresh(order)
        await self._graph.ainvoke(payload, config, context=context, durability="sync", control=session.control.graph)
        return (await self._graph.aget_state(config)).values


def _fresh(order: TaskOrder) -> MainState:
    return {
        "task": order.task,
        "text": order.text,
        "person": order.person,
        "member": order.member,
        "deep": order.deep,
        "search": order.search,
        "skill": order.skill,
        "arguments": order.arguments,
        "phone": order.phone,
        "quick": order.quick,
        "max_steps": order.max_steps,
        "files": [file.model_dump() for file in order.files],
        "standing": [each.model_dump(mode="json") for each in order.standing],
        "result": None if order.result is None else order.result.model_dump(),
        "kind": "simple",
        "plan": "",
        "todos": [],
        "current": None,
        "goal": "",
        "assignments": [],
        "ending": "",
        "sources": [],
        "documents": [],
        "subtask": 0,
        "replans": 0,
        "results": [],
        "notes": [_of_earlier(each) for each in order.earlier],
        "heard": [],
        "seconds": 0.0,
        "usage": usage_data(Usage()),
        "fault": None,
        "summary": "",
        "data": None,
        "value": None,
        "steps": 0,
        "frame": None,
    }


def _todos_of(state: StateSnapshot) -> tuple[Todo, ...]:
    """The parts of a task that is continued, with what has come of those that ended before it stopped."""
    if not state.values.get("todos"):
        return ()
    ended = [task.result["reports"] for task in state.tasks if task.result and task.result.get("reports")]
    known: MainState = {**state.values, "reports": reduce(or_, ended, state.values.get("reports", {}))}  # type: ignore[typeddict-item]
    return tuple(Todo.model_validate(todo) for todo in folded(known).get("todos", known["todos"]))


_EARLIER_LETTERS = 2_000
"""Of the answer of an earlier task: it stands in the prompt of every step."""


def _of_earlier(task: EarlierTask) -> str:
    """An earlier task as a note, so that "the second one" is understood by whoever plans and works."""
    answer = " ".join(f"{task.summary} {task.data or ''}".split())
    return f"Before this the person asked: {task.text}. It ended as {task.outcome}: {answer[:_EARLIER_LETTERS]}"


def _ended(values: dict[str, Any]) -> TaskEnded:
    state = MainState(**values)  # type: ignore[typeddict-item]  # the graph's own values are its state
    return TaskEnded(
        outcome=Outcome(state["outcome"]),
        summary=state["summary"],
        data=state["data"],
        value=state.get("value"),
        steps=state["steps"],
        usage=spent(state),
        frame=state["frame"],
        sources=tuple(Source.model_validate(page) for page in state.get("sources", [])),
    )
