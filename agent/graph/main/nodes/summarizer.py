"""summarizer: the outcome by code, the words by a model where there is something to sum up."""

from __future__ import annotations

import logging

from langgraph.runtime import Runtime

from agent.control import Stopped
from agent.events import Thinking
from agent.graph.executor.state import usage_data
from agent.graph.main.context import TaskContext
from agent.graph.main.ending import outcome_of
from agent.graph.main.state import MainState, spent
from agent.models.base import Delta, Message, ModelRequest, Purpose
from agent.models.errors import ModelError
from agent.outcome import Outcome
from agent.prompts import prompt

logger = logging.getLogger(__name__)


async def summarizer(state: MainState, runtime: Runtime[TaskContext]) -> MainState:
    """One result speaks for itself; several are summed up. A failing model costs only its words."""
    context = runtime.context
    outcome = outcome_of(state)
    results = state["results"]
    data = "\n".join(result["data"] for result in results if result["data"]) or None
    update: MainState = {"outcome": outcome.value, "data": data}
    fault = state.get("fault")
    plain = "\n".join([result["summary"] for result in results] + ([fault["summary"]] if fault else []))
    update["summary"] = plain or "Nothing was done."
    if len(results) < 2 or outcome is Outcome.CANCELLED:
        return update
    lines = "\n".join(f"- {r['goal']}: {r['outcome']}. {r['summary']} {r['data'] or ''}" for r in results)
    ending = fault["summary"] if fault else ""
    facts = f"Task: {state['text']}\nOutcome: {outcome}\n{ending}\nResults:\n{lines}"
    request = ModelRequest(
        Purpose.SUMMARIZE,
        (Message("system", (prompt("summarize"),)), Message("user", (facts,))),
        conversation=f"{state['task']}-summary",
    )
    model = context.models.for_purpose(Purpose.SUMMARIZE)

    def stream(delta: Delta) -> None:
        context.emit(Thinking(node="summarizer", text=delta.text, reasoning=delta.reasoning))

    try:
        reply = await context.patiently(lambda: model.complete(request, on_delta=stream))
    except ModelError as error:
        logger.warning("task %s: no summary from the model: %s", state["task"], error)
        return update
    except Stopped:
        if not context.control.cancelled:
            raise
        return update
    update["summary"] = reply.text.strip() or update["summary"]
    update["usage"] = usage_data(spent(state) + reply.usage)
    return update
