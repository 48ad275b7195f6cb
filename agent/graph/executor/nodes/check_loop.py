"""check_loop: the only place that handles cancel and pause, checks the limits, and detects a lack of
progress.
"""

from __future__ import annotations

from typing import Final, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.graph.executor import questions
from agent.graph.executor.context import RunContext
from agent.graph.executor.nodes.summaries import is_past_long
from agent.graph.executor.state import (
    ConversationState,
    ExecutorState,
    QuestionState,
    ending,
    joined,
    last_reason,
    performed_of,
)
from agent.graph.executor.steps import REPORTED, close_step, report_step
from agent.guards.loop_detection import Level, Move, level
from agent.run import Outcome
from agent.wording import kept, sentence

MOST_SAME_REASON = 3
"""How often the phone may give the same reason for a failure before the sub-task ends with it, because the model
ignores it.
"""
ADVICE: Final = {
    Level.TOLD: "You have done the same on the same screen before and nothing changed. Try another way.",
    Level.REMINDED: (
        "You are going in circles: what you do has no lasting effect. Look at the picture again. The goal is: {goal} "
        "Choose a way that you have not tried: another element, scrolling, going back, or opening the app anew."
    ),
    Level.REPLAN: (
        "You are still going in circles. Stop and make a new plan: say in one line why this way does not work, think "
        "of two other ways to the goal ({goal}), and begin with the better one. If there is none, finish with failure."
    ),
}
"""What the model is told when nothing changes."""


async def check_loop(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "sum_up_past", "call_user", "executor_exit"]]:
    """Close the step, then decide whether to continue with the next one, ask the person, or end."""
    context, control = runtime.context, runtime.context.control
    report_step(state, context)
    closed = close_step(state, context) if state["step"]["performed"] else None
    update = joined(REPORTED, closed or {})
    if control.paused:
        context.screen.forget()
        await control.wait_while_paused()
    if control.cancelled:
        return Command(goto="executor_exit", update=joined(update, ending(Outcome.CANCELLED, "")))
    if state["progress"]["result"] is not None:
        return Command(goto="executor_exit", update=update)
    now, most = joined(state, update), state["order"]["max_steps"]
    if now["step"]["number"] > most:
        reached = ending(Outcome.FAILED, sentence("limit.steps", number=most))
        return Command(goto="executor_exit", update=joined(update, reached))
    planned, goal = bool(state["order"]["plan"]), state["order"]["goal"]
    why, times = last_reason(now["past"])
    if closed and times >= MOST_SAME_REASON and now["past"][-1]["failure"] is not None:
        summary = sentence("ended.same_reason", number=times, why=why)
        refused = ending(Outcome.FAILED if planned else Outcome.BLOCKED, summary)
        return Command(goto="executor_exit", update=joined(update, refused))
    stuck = level([Move(*move) for move in now["progress"]["moves"]])
    if stuck is Level.REPLAN and planned and not state["progress"]["given_up"]:
        circles = joined(ending(Outcome.FAILED, sentence("ended.circles")), {"progress": {"given_up": 1}})
        return Command(goto="executor_exit", update=joined(update, circles))
    if stuck is Level.PERSON or (stuck is Level.REPLAN and planned):
        number = state["question"]["between_steps_count"] + 1
        performed = performed_of(closed["past"][-1]) if closed else ()
        asked: QuestionState = {
            "pending": questions.stuck(state, context, performed, number, why).model_dump(mode="json"),
            "between_steps": True,
            "between_steps_count": number,
        }
        return Command(goto="call_user", update=joined(update, {"question": asked}))
    notices = [*state["conversation"]["model_notices"]]
    if stuck in ADVICE:
        notices.append(ADVICE[stuck].format(goal=goal))
    written = control.take_notes()
    told: ConversationState = {
        "model_notices": [*notices, *(f"The person writes: {note}" for note in written)],
        "user_messages": [*state["conversation"]["user_messages"], *written],
        "steering_notes": [*state["conversation"]["steering_notes"], *map(kept, written)],
    }
    update = joined(update, {"conversation": told})
    due = await is_past_long(joined(state, update), context)
    return Command(goto="sum_up_past" if due else "screenshot", update=update)
