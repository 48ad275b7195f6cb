"""check_loop: the one place that honours cancel and pause, watches the caps, and notices standing still."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.effect_facts import effects_of
from agent.graph.executor import questions
from agent.graph.executor.context import RunContext
from agent.graph.executor.past import is_past_long
from agent.graph.executor.state import ExecutorState, did_of, ended
from agent.graph.executor.steps import close_step, tell
from agent.guards.loop_detection import Level, Move, level
from agent.outcome import Outcome
from agent.wording import kept, sentence

NO_EFFECT = "You have done the same on the same screen before and nothing changed. Try another way."
REMINDER = (
    "You are going in circles: what you do has no lasting effect. Look at the picture again. The goal is: {goal} "
    "Choose a way that you have not tried: another element, scrolling, going back, or opening the app anew."
)

REPLAN = (
    "You are still going in circles. Stop and make a new plan: say in one line why this way does not work, think of "
    "two other ways to the goal ({goal}), and begin with the better one. If there is none, finish with failure."
)


async def check_loop(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "sum_up_past", "call_user", "executor_exit"]]:
    """Close the step, then go on or end."""
    context = runtime.context
    tell(state, context)
    update = {"untold": None, **_closed(state, context)}
    control = context.control
    if control.paused:
        context.screen.forget()
        await control.hold()
    if control.cancelled:
        update["result"] = ended(Outcome.CANCELLED, "")
        return Command(goto="executor_exit", update=update)
    if state.get("result") is not None:
        return Command(goto="executor_exit", update=update)
    if update.get("step", state["step"]) > state["max_steps"]:
        update["result"] = ended(Outcome.FAILED, sentence("limit.steps", number=state["max_steps"]))
        return Command(goto="executor_exit", update=update)
    told: list[str] = update.get("told", state["told"])
    moves = [Move(*move) for move in update.get("history", state["history"])]
    stuck = level(moves)
    if stuck is Level.REPLAN and state.get("plan") and not state.get("given_up", 0):
        update |= {"result": ended(Outcome.FAILED, sentence("ended.circles")), "given_up": 1}
        return Command(goto="executor_exit", update=update)
    if stuck is Level.PERSON or (stuck is Level.REPLAN and state.get("plan")):
        update |= {"told": told, "aside": True, "asides": state.get("asides", 0) + 1}
        did = did_of(update["past"][-1]["did"]) if update.get("past") else ()
        update["question"] = questions.stuck(state, context, did, update["asides"])
        return Command(goto="call_user", update=update)
    if stuck is Level.REPLAN:
        told = [*told, REPLAN.format(goal=state["goal"])]
    elif stuck is Level.REMINDED:
        told = [*told, REMINDER.format(goal=state["goal"])]
    elif stuck is Level.TOLD:
        told = [*told, NO_EFFECT]
    notes = control.take_notes()
    update["told"] = [*told, *(f"The person writes: {note}" for note in notes)]
    update["said"] = [*state.get("said", []), *notes]
    update["steers"] = [*state.get("steers", []), *map(kept, notes)]
    now = ExecutorState(**{**state, **update})  # type: ignore[typeddict-item]  # what the graph makes of the two
    due = await is_past_long(now, context)
    return Command(goto="sum_up_past" if due else "screenshot", update=update)


def _closed(state: ExecutorState, context: RunContext) -> dict[str, Any]:
    """The step's end; nothing when it was stopped before it did anything."""
    if not state["did"]:
        return {}
    return close_step(state, context, did=did_of(state["did"]), effect=effects_of(state["effect"]), told=state["told"])
