"""screenshot: one observation, and how the model will see it."""

from __future__ import annotations

import logging
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Seen
from agent.graph.executor import questions
from agent.graph.executor.context import RunContext
from agent.graph.executor.device_health import look_after
from agent.graph.executor.state import ExecutorState, ended_by
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
    context.mask.restore(state.get("covered", []))
    context.mask.let_read(state.get("readable", []))
    try:
        view = await context.screen.look()
        look_after(context)
    except Stopped:
        return Command(goto="check_loop")
    except PhoneError as error:
        logger.warning("run %s: no observation: %s", state["run"], error)
        return Command(goto="executor_exit", update={"result": ended_by(error)})
    seen = view.observation
    if seen.locked:
        return Command(goto="call_user", update=_unlock_question(state, context, view.frame))
    if state["frame"] is None and view.frame is not None:
        context.emit(Seen(run=context.run, frame=view.frame))
    closed = {} if context.screen.is_early else await correct_step(state, context, seen)
    notes = context.control.take_notes()
    return Command(
        goto="vision_model",
        update={
            "frame": view.frame,
            "size": [view.screen.space.width, view.screen.space.height],
            "app": seen.package,
            "app_name": seen.app_name,
            "index": 0,
            "did": [],
            "effect": [],
            "mark": None,
            "touched": [],
            **closed,
            "said": [*state.get("said", []), *notes],
            # Also what was written while the run was queued or a question was open.
            "told": [
                *state["told"],
                *([CLOSED] if context.policy.closes(seen.package) else []),
                *(f"The person writes: {note}" for note in notes),
            ],
        },
    )


def _unlock_question(state: ExecutorState, context: RunContext, frame: str | None) -> dict[str, Any]:
    """What the state gets when a person must unlock the phone, between two steps."""
    number = state.get("asides", 0) + 1
    return {
        "question": questions.unlock(state, context, number, frame),
        "aside": True,
        "asides": number,
        "frame": frame,
        "did": [],
        "effect": [],
        "mark": None,
    }
