"""plan_supervisor: decides from the plan and the results of sub-tasks what is done next. Only recorded
results show what is done, not what a model says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, Send
from pydantic import BaseModel

from agent.control import Stopped
from agent.events import Planned, Thinking, Todo
from agent.graph.main import prompt_facts
from agent.graph.main.context import TaskContext
from agent.graph.main.nodes.member import sent
from agent.graph.main.state import (
    MainState,
    check_budget,
    ended_by,
    fault_update,
    folded,
    joined,
    order_of,
    spent_update,
)
from agent.limits import BudgetReached
from agent.members.loading import EXECUTOR
from agent.models.base import ModelRequest, Purpose, prompted
from agent.models.errors import ModelError
from agent.models.json_answers import ask
from agent.prompts import prompt

Route = Command[Literal["executor", "member", "plan_supervisor", "summarizer"]]


class Assignment(BaseModel):
    """A part that is to be done now: by whom, its title, and what is to be reached."""

    member: str = EXECUTOR
    todo: str
    goal: str = ""


class Supervision(BaseModel):
    """The supervisor's decision. `refused` are parts that nobody shall do; `next` is the goal of the first remaining
    part, for models that assign nothing.
    """

    decision: Literal["continue", "retry", "replan", "complete"]
    remaining: list[str] = []
    refused: list[str] = []
    assignments: list[Assignment] = []
    next: str = ""
    reason: str = ""


async def plan_supervisor(state: MainState, runtime: Runtime[TaskContext]) -> Route:
    """Ask the supervising model for the next step with one structured request, repeated once if the answer is unusable.
    Code enforces the limits and keeps the list of completed sub-tasks.
    """
    context = runtime.context
    back = folded(state)
    context.session.usage_by_part.clear()
    state, order = joined(state, back), order_of(state)
    if state["ending"]["fault"] or state["ending"]["run_outcome"]:
        return Command(goto="summarizer", update=back)
    messages = prompt_facts.user_messages(state, context)
    request = ModelRequest(
        Purpose.SUPERVISE,
        prompted(
            prompt("supervise", members=context.described) + context.guidance.block,
            _facts(state, messages) + prompt_facts.dated(context),
        ),
        schema=Supervision,
        conversation=f"{order.task}-supervise",
        task=order.task,
    )
    model = context.models.for_purpose(Purpose.SUPERVISE)
    todos = state["plan"]["todos"]
    left = not todos or any(todo["state"] in {"pending", "in progress"} for todo in todos)
    check = partial(_wrong, names=context.names, left=left)
    read: MainState = {"findings": {"user_messages": messages}}
    try:
        await check_budget(state, context)
        found, usage = await context.run_restartable(lambda: ask(model, request, Supervision, check=check))
    except (ModelError, Stopped, BudgetReached) as error:
        ended = ended_by(error, context.session.control, state["progress"])
        return Command(goto="summarizer", update=joined(back, read, ended))
    took = spent_update(state, context, usage)
    if found.reason:
        context.emit(Thinking(node="plan_supervisor", text=found.reason))
    return await _decided(joined(state, read, took), context, found, joined(back, read, took))


def _wrong(found: Supervision, names: Sequence[str], *, left: bool) -> str:
    """Return what is impossible about a decision, in words for the model. `left` means that sub-tasks remain."""
    for each in found.assignments:
        if each.member not in names:
            return f"there is no member {each.member!r}; there are: {', '.join(names)}."
        if not each.goal.strip() or not each.todo.strip():
            return "every assignment needs the title of its part and a goal."
    if sum(each.member == EXECUTOR for each in found.assignments) > 1:
        return "there is one phone: assign one part to the executor, and the next one when it is done."
    titles = [each.todo for each in found.assignments]
    if len(set(titles)) < len(titles):
        return "a part is assigned twice."
    if found.decision == "complete" and found.assignments:
        return "nothing can be assigned when everything is complete."
    if left and found.decision in {"continue", "retry"} and not (found.assignments or found.remaining):
        return f'"{found.decision}" needs an assignment; if there is nothing left to do, it is "complete".'
    return ""


async def _decided(state: MainState, context: TaskContext, found: Supervision, update: MainState) -> Route:
    known, replans = state["plan"]["todos"], state["plan"]["replans"]
    assigned = [each for each in found.assignments if each.todo not in found.refused]
    first = [each.todo for each in assigned]
    titles = list(dict.fromkeys([*first, *(title for title in found.remaining if title not in found.refused)]))
    members = {todo["title"]: todo["member"] for todo in known} | {each.todo: each.member for each in assigned}
    done = [todo for todo in known if todo["state"] in {"completed", "declined", "refused"}]
    failed = [todo for todo in known if todo["state"] == "failed"]
    done += [Todo(title=title, state="refused", note=found.reason).model_dump() for title in found.refused]
    pending = [Todo(title=title, member=members.get(title, EXECUTOR)).model_dump() for title in titles]
    if found.decision == "complete" or not pending:
        if context.session.control.has_notes:
            # The person wrote something while the end was being decided: read that first.
            return Command(goto="plan_supervisor", update=update)
        unfinished = [todo for todo in known if todo["state"] in {"pending", "in progress"}]
        unfinished = [todo for todo in unfinished if todo["title"] not in found.refused]
        todos = [*done, *failed, *unfinished]
        _tell(context, state, todos)
        return Command(goto="summarizer", update=joined(update, {"plan": {"todos": todos}}))
    if found.decision == "replan":
        if replans >= context.limits.replans:
            return Command(goto="summarizer", update=joined(update, fault_update(context.limits.too_many_replans())))
        todos = [*done, *pending]
        changed: MainState = {
            "plan": {"replans": replans + 1, "todos": todos},
            "progress": {"current_todo": None, "assignments": []},
        }
        _tell(context, state, todos)
        return Command(goto="plan_supervisor", update=joined(update, changed))
    if found.decision == "retry":
        again = [todo for todo in failed if todo["title"] in titles]
        failed = [todo for todo in failed if todo not in again] if again else failed[:-1]
    now = assigned or [Assignment(member=pending[0]["member"], todo=titles[0], goal=found.next or titles[0])]
    if state["progress"]["subtask"] + len(now) > context.limits.subtasks:
        return Command(goto="summarizer", update=joined(update, fault_update(context.limits.too_many_subtasks())))
    return await _hand_out(state, context, now, [*done, *failed, *pending], update)


async def _hand_out(
    state: MainState, context: TaskContext, now: Sequence[Assignment], todos: list[dict[str, Any]], update: MainState
) -> Route:
    """Send each sub-task to its node. The executor's gets the next number, because a run counts on."""
    places = {todo["title"]: place for place, todo in enumerate(todos) if todo["state"] == "pending"}
    ordered = sorted(now, key=lambda each: each.member != EXECUTOR)
    assignments: list[dict[str, Any]] = [
        {"number": number, "member": each.member, "todo": places[each.todo], "goal": each.goal}
        for number, each in enumerate(ordered, state["progress"]["subtask"] + 1)
    ]
    for each in assignments:
        todos[each["todo"]]["state"] = "in progress"
    _tell(context, state, todos)
    on_phone = next((each for each in assignments if each["member"] == EXECUTOR), None)
    assigned: MainState = {
        "plan": {"todos": todos},
        "progress": {
            "assignments": assignments,
            "current_todo": on_phone["todo"] if on_phone else None,
            "goal": (on_phone or assignments[0])["goal"],
        },
    }
    known = joined(state, {"plan": {"todos": todos}})
    goto: list[str | Send] = [
        sent(known, each["member"], each["goal"], each["number"], each["todo"], planned=True)
        for each in assignments
        if each["member"] != EXECUTOR
    ]
    if on_phone is None:
        # The phone is not needed for now, so others may use it.
        await context.runner.rest(context.session.run)
    else:
        goto.append("executor")
    return Command(goto=goto, update=joined(update, assigned))  # type: ignore[arg-type]  # names and what is sent, mixed


def _tell(context: TaskContext, state: MainState, todos: list[dict[str, Any]]) -> None:
    context.session.todos = tuple(Todo.model_validate(todo) for todo in todos)
    context.emit(Planned(plan=state["plan"]["text"], todos=context.session.todos))


def _facts(state: MainState, messages: list[str]) -> str:
    todos = "\n".join(f"- {todo['title']} ({todo['member']}): {todo['state']}" for todo in state["plan"]["todos"])
    return (
        f"Task: {order_of(state).text}{prompt_facts.written(messages)}\n\nPlan:\n{state['plan']['text']}\n\n"
        f"Parts:\n{todos or '(none yet)'}\n\nResults:\n{prompt_facts.results(state)}\n\n"
        f"Notes:\n{prompt_facts.notes(state)}"
    )
