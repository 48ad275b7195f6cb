"""plan_supervisor: turns plan and results into what is next. What is done is decided by results, never by prose."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from agent.control import Stopped
from agent.events import Planned, Thinking, Todo
from agent.graph.executor.state import spent, usage_data
from agent.graph.main import prompt_facts
from agent.graph.main.context import TaskContext
from agent.graph.main.failures import check_budget, ended_by, fault_update
from agent.graph.main.state import MainState
from agent.limits import BudgetReached
from agent.models.base import Message, ModelRequest, Purpose
from agent.models.errors import ModelError
from agent.models.structured import ask
from agent.prompts import prompt

Route = Command[Literal["executor", "plan_supervisor", "summarizer"]]


class Supervision(BaseModel):
    """The supervisor's decision. `refused` are parts that nobody shall do."""

    decision: Literal["continue", "retry", "replan", "complete"]
    remaining: list[str] = []
    refused: list[str] = []
    next: str = ""
    reason: str = ""


async def plan_supervisor(state: MainState, runtime: Runtime[TaskContext]) -> Route:
    """One structured call; the caps and the list of done parts are kept by code."""
    context = runtime.context
    said = prompt_facts.heard(state, context)
    request = ModelRequest(
        Purpose.SUPERVISE,
        (Message("system", (prompt("supervise"),)), Message("user", (_facts(state, said),))),
        schema=Supervision,
        conversation=f"{state['task']}-supervise",
        task=state["task"],
    )
    model = context.models.for_purpose(Purpose.SUPERVISE)
    try:
        await check_budget(state, context)
        found, usage = await context.patiently(lambda: ask(model, request, Supervision))
    except (ModelError, Stopped, BudgetReached) as error:
        return Command(goto="summarizer", update={"heard": said, **ended_by(error, context.session.control)})
    update: dict[str, Any] = {
        "heard": said,
        "usage": usage_data(spent(state) + usage),
        "seconds": context.session.watch.seconds,
    }
    if found.reason:
        context.emit(Thinking(node="plan_supervisor", text=found.reason))
    return _decided(state, context, found, update)


def _decided(state: MainState, context: TaskContext, found: Supervision, update: dict[str, Any]) -> Route:
    """The todo list and the next node."""
    done = [todo for todo in state["todos"] if todo["state"] in {"completed", "refused"}]
    failed = [todo for todo in state["todos"] if todo["state"] == "failed"]
    done += [Todo(title=title, state="refused", note=found.reason).model_dump() for title in found.refused]
    pending = [Todo(title=title).model_dump() for title in found.remaining if title not in found.refused]
    if found.decision == "complete" or not pending:
        if context.session.control.has_notes:
            # The person has written while the end was being decided: that is read first.
            return Command(goto="plan_supervisor", update=update)
        unfinished = [todo for todo in state["todos"] if todo["state"] in {"pending", "in progress"}]
        unfinished = [todo for todo in unfinished if todo["title"] not in found.refused]
        update["todos"] = [*done, *failed, *unfinished]
        _tell(context, state, update["todos"])
        return Command(goto="summarizer", update=update)
    if found.decision == "replan":
        if state["replans"] >= context.limits.replans:
            return Command(goto="summarizer", update=update | fault_update(context.limits.too_many_replans()))
        update |= {"replans": state["replans"] + 1, "todos": [*done, *pending], "current": None}
        _tell(context, state, update["todos"])
        return Command(goto="plan_supervisor", update=update)
    if found.decision == "retry":
        failed = failed[:-1]
    if state["subtask"] >= context.limits.subtasks:
        return Command(goto="summarizer", update=update | fault_update(context.limits.too_many_subtasks()))
    todos = [*done, *failed, *pending]
    current = len(done) + len(failed)
    todos[current]["state"] = "in progress"
    _tell(context, state, todos)
    update |= {"todos": todos, "current": current, "goal": found.next or pending[0]["title"]}
    return Command(goto="executor", update=update)


def _tell(context: TaskContext, state: MainState, todos: list[dict[str, Any]]) -> None:
    context.emit(Planned(plan=state["plan"], todos=tuple(Todo.model_validate(todo) for todo in todos)))


def _facts(state: MainState, said: list[str]) -> str:
    todos = "\n".join(f"- {todo['title']}: {todo['state']}" for todo in state["todos"])
    return (
        f"Task: {state['text']}{prompt_facts.written(said)}\n\nPlan:\n{state['plan']}\n\n"
        f"Parts:\n{todos or '(none yet)'}\n\nResults:\n{prompt_facts.results(state)}\n\n"
        f"Notes:\n{prompt_facts.notes(state)}"
    )
