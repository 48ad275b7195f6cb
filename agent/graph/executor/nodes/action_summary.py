"""action_summary: has a caption for the card in the chat written in the background, without delaying the
graph.
"""

from __future__ import annotations

import asyncio
import logging

from langgraph.runtime import Runtime

from agent.actions import Finish
from agent.dialects.base import BadReply
from agent.graph.executor.context import RunContext
from agent.graph.executor.follower import RECORDED
from agent.graph.executor.state import ExecutorState, past_line, reply_of
from agent.models.base import Message, Model, ModelReply, ModelRequest, Purpose
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
        (Message("system", (prompt("caption"),)), Message("user", (facts,))),
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
