"""summarizer: the outcome by code, the words by a model where there is something to sum up."""

from __future__ import annotations

import logging

from langgraph.runtime import Runtime

from agent.control import Stopped
from agent.faults import FaultKind
from agent.graph.executor.state import usage_data
from agent.graph.main import facts
from agent.graph.main.context import TaskContext
from agent.graph.main.ending import outcome_of, told_plainly
from agent.graph.main.limits import BudgetReached
from agent.graph.main.state import MainState, spent
from agent.graph.main.thoughts import Thoughts
from agent.models.base import Message, ModelRequest, Purpose
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
    update["summary"] = told_plainly(state)
    # Somebody who stopped it wants no more of it, and a budget that is used up pays for no more words.
    over = fault is not None and fault.get("kind") == FaultKind.BUDGET
    if len(results) < 2 or outcome is Outcome.CANCELLED or over:
        return update
    ending = f"\nHow it ended: {fault['summary']}" if fault else ""
    words = (
        f"Task: {state['text']}{facts.written(state.get('heard', []))}\nOutcome: {outcome}{ending}\n"
        f"Results:\n{facts.results(state)}\nNotes:\n{facts.notes(state)}"
    )
    request = ModelRequest(
        Purpose.SUMMARIZE,
        (Message("system", (prompt("summarize"),)), Message("user", (words,))),
        conversation=f"{state['task']}-summary",
    )
    model = context.models.for_purpose(Purpose.SUMMARIZE)
    stream = Thoughts("summarizer", context.emit)
    try:
        reply = await context.patiently(lambda: model.complete(request, on_delta=stream))
    except (ModelError, BudgetReached) as error:
        logger.warning("task %s: no summary from the model: %s", state["task"], error)
        return update
    except Stopped:
        if not context.control.cancelled:
            raise
        return update
    finally:
        stream.flush()
    if reply.text.strip():
        # Why it ended stands in the program's own words, whatever the model makes of it.
        update["summary"] = "\n".join(([fault["summary"]] if fault else []) + [reply.text.strip()])
    update["usage"] = usage_data(spent(state) + reply.usage)
    return update
