"""plan_generator: writes the plan, streamed, with the model's reasoning where it gives one."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Planned, Thinking
from agent.graph.executor.state import usage_data
from agent.graph.main.context import TaskContext
from agent.graph.main.faulting import ended_by
from agent.graph.main.state import MainState, spent
from agent.models.base import Delta, Message, ModelRequest, Purpose
from agent.models.errors import ModelError
from agent.prompts import prompt


async def plan_generator(
    state: MainState, runtime: Runtime[TaskContext]
) -> Command[Literal["plan_supervisor", "summarizer"]]:
    """One call of the reasoning model."""
    context = runtime.context
    request = ModelRequest(
        Purpose.PLAN,
        (Message("system", (prompt("plan"),)), Message("user", (state["text"],))),
        conversation=f"{state['task']}-plan",
    )
    model = context.models.for_purpose(Purpose.PLAN)

    def stream(delta: Delta) -> None:
        context.emit(Thinking(node="plan_generator", text=delta.text, reasoning=delta.reasoning))

    try:
        reply = await context.patiently(lambda: model.complete(request, on_delta=stream))
    except (ModelError, Stopped) as error:
        return Command(goto="summarizer", update=ended_by(error, context.control))
    context.emit(Planned(plan=reply.text))
    return Command(goto="plan_supervisor", update={"plan": reply.text, "usage": usage_data(spent(state) + reply.usage)})
