"""executor: hands a sub-task to the runner and passes on what it tells."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Cancel, Stopped
from agent.error_mapping import Fault
from agent.events import Asked, Planned, Resumed, RunEnded, RunEvent, Started, Step, TaskEvent, Todo, Waiting
from agent.files import GivenFile
from agent.graph.executor.state import spent, usage_data
from agent.graph.main.context import TaskContext
from agent.graph.main.failures import check_budget, ended_by, fault_update
from agent.graph.main.state import MainState
from agent.limits import BudgetReached, too_many_steps
from agent.outcome import Outcome
from agent.ports.runner import RunOrder
from agent.standing_yes import StandingYes

ENDINGS_WITHOUT_PLAN = {Outcome.CANCELLED, Outcome.BLOCKED}
"""Endings that no other way can mend: nobody asks the supervisor then."""


async def executor(
    state: MainState, runtime: Runtime[TaskContext]
) -> Command[Literal["plan_supervisor", "summarizer"]]:
    """One sub-task on a phone. After a restart the same number continues the same work."""
    context = runtime.context
    number = state["subtask"] + 1
    steps_left = state["max_steps"] - state["steps"]
    try:
        await check_budget(state, context)
    except BudgetReached as error:
        return Command(goto="summarizer", update=ended_by(error, context.session.control))
    if steps_left < 1:
        return Command(goto="summarizer", update=fault_update(too_many_steps(state["max_steps"])))
    order = RunOrder(
        run=context.session.run,
        subtask=number,
        task=state["text"],
        goal=state["goal"],
        phone=state["phone"],
        plan=state["plan"],
        notes=tuple(state["notes"]),
        max_steps=steps_left,
        files=tuple(GivenFile.model_validate(file) for file in state.get("files", [])),
        standing=tuple(StandingYes.model_validate(each) for each in state.get("standing", [])),
    )
    ended, fault = await _work(state, context, order)
    outcome = ended.outcome
    result = ended.model_dump(mode="json", exclude={"usage", "notes"}) | {"goal": state["goal"]}
    update: dict[str, Any] = {
        "subtask": number,
        "results": [*state["results"], result],
        "notes": list(ended.notes) or state["notes"],
        "usage": usage_data(spent(state) + ended.usage),
        "seconds": context.session.watch.seconds,
        "steps": state["steps"] + ended.steps,
        "frame": ended.frame or state["frame"],
    }
    if outcome is Outcome.CANCELLED and not context.session.control.cancelled:
        # Stopped by a limit and not by a person, perhaps before a restart.
        fault = fault or await context.reached(state["steps"] + ended.steps, spent(state) + ended.usage)
    else:
        fault = None
    if fault is not None:
        outcome = fault.outcome
        result |= {"outcome": outcome.value, "summary": ""}
        update |= fault_update(fault)
    current = state["current"]
    if current is not None:
        todos = [dict(todo) for todo in state["todos"]]
        todos[current]["state"] = _todo_state(outcome)
        todos[current]["note"] = ended.summary
        update["todos"] = todos
        context.emit(Planned(plan=state["plan"], todos=tuple(Todo.model_validate(todo) for todo in todos)))
    if current is None or outcome in ENDINGS_WITHOUT_PLAN:
        return Command(goto="summarizer", update=update)
    return Command(goto="plan_supervisor", update=update)


async def _work(state: MainState, context: TaskContext, order: RunOrder) -> tuple[RunEnded, Fault | None]:
    """The end of the sub-task, and the limit that it has run into.

    The limits are watched while it works: tokens and money with the phone and after each step, time always.
    """
    ended: RunEnded | None = None
    fault: Fault | None = None

    async def out_of_time() -> None:
        nonlocal fault
        fault = context.limits.out_of_time()
        await context.runner.signal(order.run, Cancel())

    async with context.session.watch.watching(out_of_time):
        async for event in context.runner.start(order):
            if isinstance(event, RunEnded):
                ended = event
                continue
            _mind_the_time(event, context)
            context.emit(told := _with_spent(event, state))
            if fault is None and isinstance(told, Started | Step):
                # The phone may have been waited for long enough for others to use up what there was.
                fault = await _reached(told, state, context)
                if fault is not None:
                    await context.runner.signal(order.run, Cancel())
    if ended is None:
        raise Stopped
    return ended, fault


async def _reached(event: Started | Step, state: MainState, context: TaskContext) -> Fault | None:
    if isinstance(event, Step):
        return await context.reached(event.step, event.usage)
    return await context.reached(state["steps"], spent(state))


def _mind_the_time(event: RunEvent, context: TaskContext) -> None:
    """Waiting for a phone or a person is no work."""
    match event:
        case Waiting():
            context.session.watch.hold("queue")
        case Started():
            context.session.watch.go("queue")
        case Asked():
            context.session.watch.hold("person")
        case Resumed():
            context.session.watch.go("person")
        case _:
            pass


def _with_spent(event: RunEvent, state: MainState) -> TaskEvent:
    """Steps tell what the whole task has taken so far, not only this sub-task."""
    if isinstance(event, Step):
        return event.model_copy(
            update={
                "step": state["steps"] + event.step,
                "max_steps": state["max_steps"],
                "usage": spent(state) + event.usage,
            }
        )
    assert not isinstance(event, RunEnded)
    return event


def _todo_state(outcome: Outcome) -> str:
    return "completed" if outcome in {Outcome.SUCCEEDED, Outcome.UNVERIFIED} else "failed"
