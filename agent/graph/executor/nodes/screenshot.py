"""screenshot: one observation, and how the model will see it."""

from __future__ import annotations

import logging
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Seen
from agent.graph.executor import questions
from agent.graph.executor.context import RunContext
from agent.graph.executor.device_health import look_after
from agent.graph.executor.state import NO_STEP, ExecutorState, ending_by, joined
from agent.graph.executor.steps import correct_step
from devices.errors import PhoneError

logger = logging.getLogger(__name__)

CLOSED = (
    "This app is closed to you by the rules: nothing of it is shown to you, and nothing is done in it. "
    "Leave it with home or back, and find a way without it, or finish with failure."
)


async def screenshot(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["vision_model", "call_user", "check_loop", "executor_exit"]]:
    """Look at the phone. Only the look is tried again, never an action."""
    context = runtime.context
    context.mask.restore(state["safety"]["secret_places"])
    context.mask.let_read(state["safety"]["readable_apps"])
    try:
        view = await context.screen.look()
        look_after(context)
    except Stopped:
        return Command(goto="check_loop")
    except PhoneError as error:
        logger.warning("run %s: no observation: %s", state["order"]["run"], error)
        return Command(goto="executor_exit", update=ending_by(error))
    seen = view.observation
    if seen.locked:
        return Command(goto="call_user", update=_unlock_question(state, context, view.frame))
    if state["step"]["frame"] is None and view.frame is not None:
        context.emit(Seen(run=context.run, frame=view.frame))
    closed: ExecutorState = {} if context.screen.is_early else await correct_step(state, context, seen)
    # Also what was written while the run was queued or a question was open.
    written = context.control.take_notes()
    conversation = state["conversation"]
    notices = [*conversation["model_notices"], *([CLOSED] if context.policy.closes(seen.package) else [])]
    looked: ExecutorState = {
        "step": {
            **NO_STEP,
            "frame": view.frame,
            "picture_size": [view.screen.space.width, view.screen.space.height],
            "app": seen.package,
            "app_name": seen.app_name,
            "action_index": 0,
        },
        "conversation": {
            "user_messages": [*conversation["user_messages"], *written],
            "model_notices": [*notices, *(f"The person writes: {note}" for note in written)],
        },
    }
    return Command(goto="vision_model", update=joined(looked, closed))


def _unlock_question(state: ExecutorState, context: RunContext, frame: str | None) -> ExecutorState:
    """The update with which a person is asked to unlock the phone, between two steps."""
    number = state["question"]["between_steps_count"] + 1
    return {
        "question": {
            "pending": questions.unlock(state, context, number, frame).model_dump(mode="json"),
            "between_steps": True,
            "between_steps_count": number,
        },
        "step": {**NO_STEP, "frame": frame},
    }
