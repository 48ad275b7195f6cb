"""plan_supervisor: turns plan and results into what is next. What is done is decided by results, never by prose."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from agent.control import Stopped
from agent.events import Planned, Todo
from agent.graph.executor.state import usage_data
from agent.graph.main.context import MAX_REPLANS, MAX_SUBTASKS, TaskContext
from agent.graph.main.faulting import ended_by
from agent.graph.main.state import MainState, spent
from agent.models.base import Message, ModelRequest, Purpose
from agent.models.errors import ModelError
from agent.models.structured import ask
from agent.outcome import Outcome
from agent.prompts import prompt

Route = Command[Literal["executor", "plan_supervisor", "summarizer"]]


class Supervision(BaseModel):
    """The supervisor's decision."""

    decision: Literal["continue", "retry", "replan", "complete"]
    remaining: list[str] = []
    next: str = ""
    reason: str = ""


async def plan_supervisor(state: MainState, runtime: Runtime[TaskContext]) -> Route:
    """One structured call; the caps and the list of done parts are kept by code."""
    context = runtime.context
    request = ModelRequest(
        Purpose.SUPERVISE,
        (Message("system", (prompt("supervise"),)), Message("user", (_facts(state),))),
        schema=Supervision,
        conversation=f"{state['task']}-supervise",
    )
    model = context.models.for_purpose(Purpose.SUPERVISE)
    try:
        said, usage = await context.patiently(lambda: ask(model, request, Supervision))
    except (ModelError, Stopped) as error:
        return Command(goto="summarizer", update=ended_by(error, context.control))
    update: dict[str, Any] = {"usage": usage_data(spent(state) + usage)}
    done = [todo for todo in state["todos"] if todo["state"] in {"completed", "refused"}]
    failed = [todo for todo in state["todos"] if todo["state"] == "failed"]
    if said.decision == "complete" or not said.remaining:
        return Command(goto="summarizer", update=update)
    pending = [Todo(title=title).model_dump() for title in said.remaining]
    if said.decision == "replan":
        update |= {"replans": state["replans"] + 1, "todos": [*done, *pending]}
        if update["replans"] > MAX_REPLANS:
            return Command(goto="summarizer", update={**update, **_cap(f"The plan was changed {MAX_REPLANS} times")})
        _tell(context, state, update["todos"])
        return Command(goto="plan_supervisor", update=update)
    if said.decision == "retry":
        failed = failed[:-1]
    if state["subtask"] >= MAX_SUBTASKS:
        return Command(goto="summarizer", update={**update, **_cap(f"{MAX_SUBTASKS} sub-tasks were worked on")})
    todos = [*done, *failed, *pending]
    current = len(done) + len(failed)
    todos[current]["state"] = "in progress"
    _tell(context, state, todos)
    update |= {"todos": todos, "current": current, "goal": said.next or said.remaining[0]}
    return Command(goto="executor", update=update)


def _tell(context: TaskContext, state: MainState, todos: list[dict[str, Any]]) -> None:
    context.emit(Planned(plan=state["plan"], todos=tuple(Todo.model_validate(todo) for todo in todos)))


def _facts(state: MainState) -> str:
    results = "\n".join(
        f"- {result['goal']}: {result['outcome']}. {result['summary']} {result['data'] or ''}".rstrip()
        for result in state["results"]
    )
    todos = "\n".join(f"- {todo['title']}: {todo['state']}" for todo in state["todos"])
    notes = "\n".join(f"- {note}" for note in state["notes"])
    return (
        f"Task: {state['text']}\n\nPlan:\n{state['plan']}\n\nParts:\n{todos or '(none yet)'}\n\n"
        f"Results:\n{results or '(none yet)'}\n\nNotes:\n{notes or '(none)'}"
    )


def _cap(reached: str) -> dict[str, Any]:
    summary = f"{reached} and the task is still not done, so it was stopped there."
    return {"fault": {"outcome": Outcome.FAILED.value, "summary": summary}}
