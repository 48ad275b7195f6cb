"""vision_model: asks the model what to do with the current screen."""

from __future__ import annotations

import logging
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.graph.executor.context import RunContext
from agent.graph.executor.early import InVain, answer_to
from agent.graph.executor.scene import remember_shown, scene_of
from agent.graph.executor.state import ExecutorState, ended_by, usage_data, usage_of
from agent.models.base import ModelRequest, Purpose
from agent.models.errors import ModelError

logger = logging.getLogger(__name__)


async def vision_model(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["action_summary", "parse_action", "screenshot", "check_loop", "executor_exit"]]:
    """One call with the image window. After a restart there is nothing seen yet: then look first."""
    context = runtime.context
    sight = context.live.sight
    if sight is None:
        return Command(goto="screenshot")
    try:
        scene = await scene_of(state, context, sight)
        messages, tools = context.dialect.render(scene)
        remember_shown(state, context, messages)
        request = ModelRequest(Purpose.ACT, messages, tools, scene=scene, conversation=state["run"])
        reply = await context.control.guard(answer_to(state, context, request))
    except Stopped:
        return Command(goto="check_loop", update=_told(context))
    except ModelError as error:
        logger.warning("run %s: the model call failed: %s", state["run"], error)
        return Command(goto="executor_exit", update={"result": ended_by(error), **_told(context)})
    if isinstance(reply, InVain) or reply.waited:
        # The screen moved under the model, or so much time passed that it may have: look again, and ask again.
        return Command(goto="screenshot", update={"usage": usage_data(usage_of(state) + reply.usage), **_told(context)})
    return Command(
        goto=["action_summary", "parse_action"],
        update={
            "reply": {
                "text": reply.text,
                "reasoning": reply.reasoning,
                "finish_reason": reply.finish_reason,
                "tool_calls": [
                    {"id": call.id, "name": call.name, "arguments": call.arguments} for call in reply.tool_calls
                ],
            },
            "decision": {"thought": "", "summary": "", "actions": []},
            "usage": usage_data(usage_of(state) + reply.usage),
            "told": [],
            "untold": None,
        },
    )


def _told(context: RunContext) -> dict[str, None]:
    """Whether the step before has been told by now: it was held only as long as its screen might still move."""
    return {} if context.live.watch.pending is not None else {"untold": None}
