"""The past of a sub-task: when it has become too long for the acting model, and what of it is summed up.

All of it stays in the state as the record (and each step in the table of steps): what is summed up is only shown to the
model in other words. Up to 30 steps in a window that is large enough nothing of what is sent changes.
"""

from __future__ import annotations

from typing import Final

from agent.context_window import is_full
from agent.control import Stopped
from agent.graph.executor.context import RunContext
from agent.graph.executor.state import ExecutorState, unsummed
from agent.models.base import PILOT

MOST_STEPS: Final = 30
"""Steps that a model is shown one by one. Then the older half is summed up: all that stands before the newer half is
new to the endpoint's prompt cache once in 15 steps."""
WORTH_IT: Final = 8
"""Steps that are left alone in a full window: fewer are hardly longer than their summary."""
KEPT_WHEN_REFUSED: Final = 2
PAUSE: Final = 5
"""Steps until it is tried again after the basic model has failed at it."""

REFUSED: Final = "refused"
SUMMED_UP: Final = "summed up"


async def is_past_long(state: ExecutorState, context: RunContext) -> bool:
    """Whether old steps are to be summed up now: there are too many, or they fill the model's window. The pilot needs
    each of them, and nobody could sum them up for it.
    """
    shown, model = len(unsummed(state)), context.models.vision
    if shown < WORTH_IT or PILOT in {model.name, context.models.basic.name}:
        return False
    earlier = state["conversation"]["past_summary"]
    if earlier is not None and len(state["past"]) < earlier["tried"]:
        return False
    try:
        # Its endpoint may be asked for the window, which may take seconds once.
        return shown > MOST_STEPS or await context.control.guard(is_full(model, state["conversation"]["input_tokens"]))
    except Stopped:
        return False


def steps_to_sum_up(state: ExecutorState) -> int:
    """How many of the past's first steps the next summary stands for; as many as the last one where there is nothing
    to sum up.
    """
    shown, past = len(unsummed(state)), len(state["past"])
    kept = KEPT_WHEN_REFUSED if state["conversation"]["overflow"] == REFUSED else shown // 2
    return past - min(kept, shown)
