"""executor: passes a sub-task to the runner, which carries it out on a phone, and forwards its events."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Cancel, Control, Stopped
from agent.error_mapping import Fault
from agent.events import Asked, Resumed, RunEnded, RunEvent, Started, Step, TaskEvent, Told, Waiting
from agent.graph.main import prompt_facts
from agent.graph.main.context import TaskContext
from agent.graph.main.nodes.member import emit_todo
from agent.graph.main.state import (
    MainState,
    check_budget,
    ended_by,
    fault_update,
    joined,
    order_of,
    todo_state,
)
from agent.graph.subjects import spent, with_sources
from agent.limits import BudgetReached, too_many_steps
from agent.ports.runner import RunOrder
from agent.request_words import plain_tasks
from agent.run import Outcome
from agent.wording import sentence

ENDINGS_WITHOUT_PLAN = {Outcome.CANCELLED, Outcome.BLOCKED}
"""Outcomes after which no other approach can help, so the supervisor is not asked."""


async def executor(
    state: MainState, runtime: Runtime[TaskContext]
) -> Command[Literal["plan_supervisor", "summarizer"]]:
    """Run one sub-task on a phone. After a restart, an order with the same number continues the same work."""
    context, wish = runtime.context, order_of(state)
    plan, progress, findings = state["plan"], state["progress"], state["findings"]
    number, before = progress["subtask"] + 1, spent(progress)
    steps_left = wish.max_steps - progress["steps"]
    beside = len(progress["assignments"]) > 1
    onward: Literal["plan_supervisor", "summarizer"] = "plan_supervisor" if beside else "summarizer"
    try:
        await check_budget(state, context)
    except BudgetReached as error:
        return Command(goto=onward, update=ended_by(error, context.session.control, state["progress"]))
    if steps_left < 1:
        return Command(goto=onward, update=fault_update(too_many_steps(wish.max_steps)))
    order = await run_order(state, context)
    async with context.session.phone_lock:
        ended, fault = await _work(state, context, order)
    outcome, steps, usage = ended.outcome, progress["steps"] + ended.steps, before + ended.usage
    result = ended.model_dump(mode="json", exclude={"usage", "notes", "sources"}) | {"goal": progress["goal"]}
    if outcome is Outcome.CANCELLED and not context.session.control.cancelled:
        # Stopped by a limit, not by a person, perhaps before a restart.
        fault = fault or await context.reached_limit(steps, usage)
    else:
        fault = None
    if fault is not None:
        outcome = fault.outcome
        result |= {"outcome": outcome.value, "summary": ""}
    update: MainState = {
        "progress": {
            "subtask": number,
            "usage": usage.data(),
            "seconds": context.session.stopwatch.seconds,
            "steps": steps,
            "phone": context.session.phone_in_use,
        },
        "findings": {
            "results": [*findings["results"], result],
            "notes": list(ended.notes) or findings["notes"],
            "sources": with_sources(findings["sources"], [page.model_dump() for page in ended.sources]),
            "frame": ended.frame or findings["frame"],
        },
        "ending": fault_update(fault)["ending"] if fault is not None else {},
    }
    current = progress["current_todo"]
    if current is not None:
        todos = [dict(todo) for todo in plan["todos"]]
        todos[current] |= {"state": todo_state(outcome), "note": ended.summary}
        update["plan"] = {"todos": todos}
        emit_todo(context, plan["text"], plan["todos"], current, todo_state(outcome), ended.summary)
    if current is None or outcome in ENDINGS_WITHOUT_PLAN:
        return Command(goto=onward, update=joined(update, {"ending": {"run_outcome": outcome.value}}))
    if beside:
        # The others still work, and the phone is idle meanwhile.
        await context.runner.rest(context.session.run)
    return Command(goto="plan_supervisor", update=update)


async def run_order(state: MainState, context: TaskContext) -> RunOrder:
    """Return the order for the next sub-task on a phone."""
    wish, plan, progress, findings = order_of(state), state["plan"], state["progress"], state["findings"]
    return RunOrder(
        run=context.session.run,
        subtask=progress["subtask"] + 1,
        task=wish.text,
        person=wish.person,
        goal=progress["goal"],
        skill=plan["skill"],
        arguments=plan["arguments"],
        phone=progress["phone"],
        plan=plan["text"],
        wanted=prompt_facts.wanted(state),
        notes=tuple(findings["notes"]),
        documents=await context.documents_read(plan["documents"]),
        goals=prompt_facts.goals(state),
        max_steps=wish.max_steps - progress["steps"],
        files=wish.files,
        instructions=context.guidance.block.strip(),
        standing=wish.standing,
    )


async def _work(state: MainState, context: TaskContext, order: RunOrder) -> tuple[RunEnded, Fault | None]:
    """Return the end of the sub-task, and the limit that it ran into.

    Limits are checked while it works: tokens and money when it gets the phone and after each step, time always.
    """
    ended: RunEnded | None = None
    fault: Fault | None = None
    asked = _Turn(context.session.asking)

    async def out_of_time() -> None:
        nonlocal fault
        fault = context.limits.out_of_time()
        await context.runner.signal(order.run, Cancel())

    async with context.session.stopwatch.watching(out_of_time), asked:
        async for event in context.runner.start(order):
            if isinstance(event, RunEnded):
                ended = event
                continue
            await _mind(event, context, asked)
            context.emit(told := _with_spent(event, state))
            if isinstance(event, Started) and state["progress"]["steps"] == 0 and order.goal == order.task:
                _tell_first_app(order.task, context)
            if isinstance(told, Step):
                context.session.usage_by_part[order.subtask] = event.usage if isinstance(event, Step) else told.usage
            if fault is None and isinstance(told, Started | Step):
                # While this waited for the phone, others may have used up the quota.
                fault = await _reached(told, state, context)
                if fault is not None:
                    await context.runner.signal(order.run, Cancel())
    if ended is None:
        raise Stopped
    return ended, fault


def _tell_first_app(task: str, context: TaskContext) -> None:
    """If the task plainly names an app, show that as the first thing while the model still thinks."""
    app = next((each.app for each in plain_tasks(task) if each.app), "")
    if app:
        context.emit(Told(text=sentence("told.opening", app=app)))


async def _reached(event: Started | Step, state: MainState, context: TaskContext) -> Fault | None:
    if isinstance(event, Step):
        beside = context.session.spent_beside(state["progress"]["subtask"] + 1)
        return await context.reached_limit(event.step, event.usage + beside)
    return await context.reached_limit(state["progress"]["steps"], spent(state["progress"]))


def _with_spent(event: RunEvent, state: MainState) -> TaskEvent:
    """Make steps report the usage of the whole task instead of only this sub-task."""
    if isinstance(event, Step):
        progress = state["progress"]
        whole = {
            "step": progress["steps"] + event.step,
            "max_steps": order_of(state).max_steps,
            "usage": spent(progress) + event.usage,
        }
        return event.model_copy(update=whole)
    assert not isinstance(event, RunEnded)
    return event


class _Turn:
    """The run's turn to ask a question: it waits for a member that has one open."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._mine = False

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        self.end()

    async def begin(self, control: Control) -> None:
        """Wait for the turn, unless the work ends first."""
        if not self._mine:
            with suppress(Stopped):
                await control.guard(self._lock.acquire(), pausing=False)
                self._mine = True

    def end(self) -> None:
        """End the turn, so that others may ask."""
        if self._mine:
            self._mine = False
            self._lock.release()


async def _mind(event: RunEvent, context: TaskContext, turn: _Turn) -> None:
    """Stop the clock while the run waits for a phone or a person, and let one worker ask after the other."""
    session = context.session
    match event:
        case Waiting():
            session.stopwatch.pause("queue")
        case Started():
            session.stopwatch.resume("queue")
            session.phone_in_use = event.phone
        case Asked():
            session.stopwatch.pause("person")
            await turn.begin(session.control)
        case Resumed():
            session.stopwatch.resume("person")
            turn.end()
        case _:
            pass
