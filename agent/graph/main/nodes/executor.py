"""executor: hands a sub-task to the runner and passes on what it tells."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Cancel, Control, Stopped
from agent.error_mapping import Fault
from agent.events import Asked, Resumed, RunEnded, RunEvent, Started, Step, TaskEvent, Waiting
from agent.files import GivenFile
from agent.graph.executor.state import spent, usage_data
from agent.graph.main import prompt_facts
from agent.graph.main.context import TaskContext
from agent.graph.main.failures import check_budget, ended_by, fault_update
from agent.graph.main.folding import todo_state, with_sources
from agent.graph.main.nodes.member import tell_todo
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
    beside = len(state.get("assignments", [])) > 1
    onward: Literal["plan_supervisor", "summarizer"] = "plan_supervisor" if beside else "summarizer"
    try:
        await check_budget(state, context)
    except BudgetReached as error:
        return Command(goto=onward, update=ended_by(error, context.session.control))
    if steps_left < 1:
        return Command(goto=onward, update=fault_update(too_many_steps(state["max_steps"])))
    order = RunOrder(
        run=context.session.run,
        subtask=number,
        task=state["text"],
        person=state.get("person", ""),
        goal=state["goal"],
        skill=state.get("skill", ""),
        arguments=state.get("arguments", {}),
        phone=state["phone"],
        plan=state["plan"],
        wanted=prompt_facts.wanted(state),
        notes=tuple(state["notes"]),
        documents=await context.documents_read(state.get("documents", [])),
        goals=prompt_facts.goals(state),
        max_steps=steps_left,
        files=tuple(GivenFile.model_validate(file) for file in state.get("files", [])),
        instructions=context.guidance.block.strip(),
        standing=tuple(StandingYes.model_validate(each) for each in state.get("standing", [])),
    )
    async with context.session.phone:
        ended, fault = await _work(state, context, order)
    outcome = ended.outcome
    result = ended.model_dump(mode="json", exclude={"usage", "notes", "sources"}) | {"goal": state["goal"]}
    update: dict[str, Any] = {
        "subtask": number,
        "results": [*state["results"], result],
        "notes": list(ended.notes) or state["notes"],
        "sources": with_sources(state.get("sources", []), [page.model_dump() for page in ended.sources]),
        "usage": usage_data(spent(state) + ended.usage),
        "seconds": context.session.watch.seconds,
        "steps": state["steps"] + ended.steps,
        "frame": ended.frame or state["frame"],
        "phone": context.session.phone_in_use,
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
        todos[current] |= {"state": todo_state(outcome), "note": ended.summary}
        update["todos"] = todos
        tell_todo(context, state["plan"], state["todos"], current, todo_state(outcome), ended.summary)
    if current is None or outcome in ENDINGS_WITHOUT_PLAN:
        return Command(goto=onward, update={**update, "ending": outcome.value})
    if beside:
        # The others still work, and the phone has nothing to do meanwhile.
        await context.runner.rest(context.session.run)
    return Command(goto="plan_supervisor", update=update)


async def _work(state: MainState, context: TaskContext, order: RunOrder) -> tuple[RunEnded, Fault | None]:
    """The end of the sub-task, and the limit that it has run into.

    The limits are watched while it works: tokens and money with the phone and after each step, time always.
    """
    ended: RunEnded | None = None
    fault: Fault | None = None
    asked = _Turn(context.session.asking)

    async def out_of_time() -> None:
        nonlocal fault
        fault = context.limits.out_of_time()
        await context.runner.signal(order.run, Cancel())

    async with context.session.watch.watching(out_of_time), asked:
        async for event in context.runner.start(order):
            if isinstance(event, RunEnded):
                ended = event
                continue
            _mind_the_time(event, context)
            await _in_turn(event, context, asked)
            if isinstance(event, Started):
                context.session.phone_in_use = event.phone
            context.emit(told := _with_spent(event, state))
            if isinstance(told, Step):
                context.session.spending[order.subtask] = event.usage if isinstance(event, Step) else told.usage
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
        beside = context.session.spent_beside(state["subtask"] + 1)
        return await context.reached(event.step, event.usage + beside)
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


class _Turn:
    """The run's turn to ask: a member that has a question open is waited for."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._mine = False

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        self.end()

    async def begin(self, control: Control) -> None:
        """Wait for it, unless the work ends first."""
        if not self._mine:
            with suppress(Stopped):
                await control.guard(self._lock.acquire(), pausing=False)
                self._mine = True

    def end(self) -> None:
        """The others may ask."""
        if self._mine:
            self._mine = False
            self._lock.release()


async def _in_turn(event: RunEvent, context: TaskContext, turn: _Turn) -> None:
    match event:
        case Asked():
            await turn.begin(context.session.control)
        case Resumed():
            turn.end()
        case _:
            pass
