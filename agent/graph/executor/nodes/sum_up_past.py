"""sum_up_past: what the older steps have come to, in a few words of the basic model, kept before anything goes on."""

from __future__ import annotations

import logging
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.context_window import sum_up
from agent.control import Stopped
from agent.graph.executor.context import RunContext
from agent.graph.executor.past import PAUSE, REFUSED, SUMMED_UP, steps_to_sum_up
from agent.graph.executor.state import ConversationState, ExecutorState, SummaryData, ending_by, past_line
from agent.graph.subjects import spent
from agent.models.base import Purpose
from agent.models.errors import ModelError

logger = logging.getLogger(__name__)


async def sum_up_past(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "check_loop", "executor_exit"]]:
    """One call, and a look at the phone after it. Where the model has refused what was sent it is shown no past
    pictures from now on; without need of it a failing model costs only the summary.
    """
    context, order, conversation = runtime.context, state["order"], state["conversation"]
    refused = conversation["overflow"] == REFUSED
    before: SummaryData = conversation["past_summary"] or {"steps": 0, "text": "", "tried": 0}
    steps = steps_to_sum_up(state)
    told: ConversationState = {"overflow": SUMMED_UP, "no_past_frames": True} if refused else {}
    update: ExecutorState = {"conversation": told}
    if steps > before["steps"]:
        turns = [f"{step['number']}. {past_line(step)}" for step in state["past"][before["steps"] : steps]]
        work = sum_up(
            before["text"],
            turns,
            context.models.for_purpose(Purpose.SUMMARIZE),
            aim=f"Aim: {order['task']}\nThis part: {order['goal']}",
            task=context.run.task,
            conversation=order["run"],
        )
        try:
            made = await context.control.guard(work)
        except Stopped:
            return Command(goto="check_loop")
        except ModelError as error:
            logger.warning("run %s: the past could not be summed up: %s", order["run"], error)
            if refused:
                return Command(goto="executor_exit", update=ending_by(error))
            told["past_summary"] = {**before, "tried": len(state["past"]) + PAUSE}
        else:
            logger.info("run %s: steps %d to %d are summed up", order["run"], before["steps"] + 1, steps)
            told["past_summary"] = {"steps": steps, "text": context.mask.text(made.text), "tried": 0}
            told["input_tokens"] = 0
            update["progress"] = {"usage": (spent(state["progress"]) + made.usage).data()}
    context.screen.forget()
    return Command(goto="screenshot", update=update)
