"""executor: hands a sub-task to the runner and passes on what it tells."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Planned, RunEnded, RunEvent, Step, TaskEvent, Todo
from agent.graph.executor.state import usage_data
from agent.graph.main.context import TaskContext
from agent.graph.main.state import MainState, run_of, spent
from agent.outcome import Outcome
from agent.ports.runner import RunOrder

ENDINGS_WITHOUT_PLAN = {Outcome.CANCELLED, Outcome.BLOCKED}
"""Endings that no other way can mend: nobody asks the supervisor then."""


async def executor(
    state: MainState, runtime: Runtime[TaskContext]
) -> Command[Literal["plan_supervisor", "summarizer"]]:
    """One sub-task on a phone. After a restart the same number continues the same work."""
    context = runtime.context
    number = state["subtask"] + 1
    order = RunOrder(
        run=run_of(state["task"]),
        subtask=number,
        task=state["text"],
        goal=state["goal"],
        phone=state["phone"],
        plan=state["plan"],
        notes=tuple(state["notes"]),
        max_steps=state["max_steps"],
    )
    ended: RunEnded | None = None
    async for event in context.runner.start(order):
        if isinstance(event, RunEnded):
            ended = event
        else:
            context.emit(_with_spent(event, state))
    if ended is None:
        raise Stopped
    result = ended.model_dump(mode="json", exclude={"usage", "notes"}) | {"goal": state["goal"]}
    update: dict[str, Any] = {
        "subtask": number,
        "results": [*state["results"], result],
        "notes": list(ended.notes) or state["notes"],
        "usage": usage_data(spent(state) + ended.usage),
        "steps": state["steps"] + ended.steps,
        "frame": ended.frame or state["frame"],
    }
    current = state["current"]
    if current is not None:
        todos = [dict(todo) for todo in state["todos"]]
        todos[current]["state"] = _todo_state(ended.outcome)
        todos[current]["note"] = ended.summary
        update["todos"] = todos
        context.emit(Planned(plan=state["plan"], todos=tuple(Todo.model_validate(todo) for todo in todos)))
    if current is None or ended.outcome in ENDINGS_WITHOUT_PLAN:
        return Command(goto="summarizer", update=update)
    return Command(goto="plan_supervisor", update=update)


def _with_spent(event: RunEvent, state: MainState) -> TaskEvent:
    """Steps tell what the whole task has cost so far, not only this sub-task."""
    if isinstance(event, Step):
        return event.model_copy(update={"usage": spent(state) + event.usage})
    assert not isinstance(event, RunEnded)
    return event


def _todo_state(outcome: Outcome) -> str:
    return "completed" if outcome in {Outcome.SUCCEEDED, Outcome.UNVERIFIED} else "failed"
