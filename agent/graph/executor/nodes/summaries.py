"""action_summary and sum_up_past: have a model write a caption of a step for the chat, and the summary of older steps.

All steps stay in the state (and in the table of steps); only the model is shown the summary in place of the older ones.
With up to 30 steps that fit into the model's window, nothing changes.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.actions import Finish
from agent.context_window import is_full, sum_up
from agent.control import Stopped
from agent.dialects.base import BadReply
from agent.graph.executor.context import RunContext
from agent.graph.executor.follower import RECORDED
from agent.graph.executor.state import (
    ConversationState,
    ExecutorState,
    SummaryData,
    ending_by,
    joined,
    past_line,
    reply_of,
    unsummed,
)
from agent.graph.subjects import spent
from agent.models.base import PILOT, Model, ModelReply, ModelRequest, Purpose, prompted
from agent.models.errors import ModelError
from agent.models.tokens import hung_up
from agent.prompts import prompt

logger = logging.getLogger(__name__)

CAPTION_SECONDS = 15.0
STEPS_TOLD = 3


async def action_summary(state: ExecutorState, runtime: Runtime[RunContext]) -> None:
    """Start a model call for the caption, if the acting model wrote neither a caption nor a thought and does not
    finish. `check_loop` collects the result.

    A node that waited would delay the whole super-step, so this one only starts a task that the run owns.
    """
    context = runtime.context
    sight = context.screen.view
    if sight is None or state["step"]["reply"].get("finish_reason") == RECORDED:
        return
    try:
        decision = context.profile.dialect.parse(reply_of(state["step"]), sight.screen.space)
    except BadReply:
        return
    if decision.summary or decision.thought or isinstance(decision.actions[0], Finish):
        return
    now = " · ".join(context.actions.describe(action, sight) for action in decision.actions)
    facts = context.mask.text(_facts(state, now))
    request = ModelRequest(
        Purpose.CAPTION,
        prompted(prompt("caption"), facts),
        conversation=state["order"]["run"],
        task=context.run.task,
    )
    context.memory.caption = asyncio.create_task(_caption(context.config.models.basic, request))


def _facts(state: ExecutorState, now: str) -> str:
    """Return what the caption is about: the goal, the last steps to show the progress, and the current action."""
    step = state["step"]
    before = "\n".join(past_line(past) for past in state["past"][-STEPS_TOLD:]) or "(none)"
    words = f"\nIts words: {said}" if (said := step["reply"]["text"].strip()) else ""
    goal, app = state["order"]["goal"], step["app_name"] or "an app"
    return f"Goal: {goal}\nLast steps:\n{before}\nNow, in {app}: {now}{words}"


async def _caption(model: Model, request: ModelRequest) -> ModelReply:
    """Return the caption; if there is none in time, an empty one with the tokens used."""
    try:
        async with asyncio.timeout(CAPTION_SECONDS):
            return await model.complete(request)
    except (ModelError, TimeoutError) as error:
        logger.info("no caption: %s", error)
        return ModelReply("", usage=error.usage if isinstance(error, ModelError) else hung_up(request, model.name))


MOST_STEPS: Final = 30
"""How many steps a model is shown one by one. Then the older half is summarised, so everything before the newer half is
new to the endpoint's prompt cache once in 15 steps.
"""
WORTH_IT: Final = 8
"""How many steps are not summarised even if the model's window is full, because they are hardly longer than their
summary.
"""
KEPT_WHEN_REFUSED: Final = 2
PAUSE: Final = 5
"""Steps until the next attempt after the basic model failed."""

REFUSED: Final = "refused"
SUMMED_UP: Final = "summed up"


async def is_past_long(state: ExecutorState, context: RunContext) -> bool:
    """Whether old steps should be summarised now, because there are too many or they fill the model's window.

    Never so with the offline pilot, which needs every step.
    """
    shown, model = len(unsummed(state)), context.config.models.vision
    if shown < WORTH_IT or PILOT in {model.name, context.config.models.basic.name}:
        return False
    earlier = state["conversation"]["past_summary"]
    if earlier is not None and len(state["past"]) < earlier["tried"]:
        return False
    try:
        # This may ask the endpoint for the window, which may take seconds once.
        return shown > MOST_STEPS or await context.control.guard(is_full(model, state["conversation"]["input_tokens"]))
    except Stopped:
        return False


async def sum_up_past(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "check_loop", "executor_exit"]]:
    """Make one model call for the summary, then look at the phone again.

    If the acting model refused a request as too long, it gets no past pictures from now on. If the call fails, the run
    continues without a new summary, except after such a refusal: then it ends.
    """
    context, order, conversation = runtime.context, state["order"], state["conversation"]
    refused = conversation["overflow"] == REFUSED
    before: SummaryData = conversation["past_summary"] or {"steps": 0, "text": "", "tried": 0}
    shown = len(unsummed(state))
    steps = len(state["past"]) - min(KEPT_WHEN_REFUSED if refused else shown // 2, shown)
    told: ConversationState = {"overflow": SUMMED_UP, "no_past_frames": True} if refused else {}
    update: ExecutorState = {"conversation": told}
    if steps > before["steps"]:
        turns = [f"{step['number']}. {past_line(step)}" for step in state["past"][before["steps"] : steps]]
        work = sum_up(
            before["text"],
            turns,
            context.config.models.for_purpose(Purpose.SUMMARIZE),
            aim=f"Aim: {order['task']}\nThis part: {order['goal']}",
            task=context.run.task,
            conversation=order["run"],
        )
        try:
            made = await context.control.guard(work)
        except Stopped:
            return Command(goto="check_loop")
        except ModelError as error:
            logger.warning("Run %s: earlier steps could not be summarised: %s", order["run"], error)
            update["progress"] = {"usage": (spent(state["progress"]) + error.usage).data()}
            if refused:
                return Command(goto="executor_exit", update=joined(update, ending_by(error)))
            told["past_summary"] = {**before, "tried": len(state["past"]) + PAUSE}
        else:
            logger.info("run %s: steps %d to %d are summed up", order["run"], before["steps"] + 1, steps)
            told["past_summary"] = {"steps": steps, "text": context.mask.text(made.text), "tried": 0}
            told["input_tokens"] = 0
            update["progress"] = {"usage": (spent(state["progress"]) + made.usage).data()}
    context.screen.forget()
    return Command(goto="screenshot", update=update)
