"""plan_generator: writes the plan, streamed, with the model's reasoning where it gives one."""

from __future__ import annotations

import logging
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.control import Stopped
from agent.events import Planned, Told
from agent.graph.executor.state import spent, usage_data
from agent.graph.main.context import TaskContext
from agent.graph.main.failures import check_budget, ended_by
from agent.graph.main.prompt_facts import documents, given, heard, written
from agent.graph.main.state import MainState
from agent.graph.main.streaming import Thoughts
from agent.limits import BudgetReached
from agent.models.base import Message, ModelRequest, Purpose
from agent.models.errors import ModelError
from agent.ports.knowledge import Passage
from agent.prompts import prompt
from agent.wording import sentence

logger = logging.getLogger(__name__)

PASSAGES = 5
"""Found passages that the planner reads: a few thousand tokens at most."""


async def plan_generator(
    state: MainState, runtime: Runtime[TaskContext]
) -> Command[Literal["plan_supervisor", "summarizer"]]:
    """One call of the reasoning model, after a search in the operator's documents."""
    context = runtime.context
    said = heard(state, context)
    model = context.models.for_purpose(Purpose.PLAN)
    stream = Thoughts("plan_generator", context.emit)
    instructions = prompt("plan") + (f"\n\n{prompt('plan_deep')}" if context.deep_thinking else "")
    try:
        await check_budget(state, context)
        passages = await context.patiently(lambda: _search(state["text"], context))
        facts = f"Task: {state['text']}{given(state)}{written(said)}{documents(passages)}"
        request = ModelRequest(
            Purpose.PLAN,
            (Message("system", (instructions,)), Message("user", (facts,))),
            conversation=f"{state['task']}-plan",
            task=state["task"],
            deep=context.deep_thinking,
        )
        reply = await context.patiently(lambda: model.complete(request, on_delta=stream))
    except (ModelError, Stopped, BudgetReached) as error:
        return Command(goto="summarizer", update=ended_by(error, context.session.control))
    finally:
        stream.flush()
    context.emit(Planned(plan=reply.text))
    update: MainState = {
        "plan": reply.text,
        "heard": said,
        "usage": usage_data(spent(state) + reply.usage),
        "seconds": context.session.watch.seconds,
    }
    return Command(goto="plan_supervisor", update=update)


async def _search(text: str, context: TaskContext) -> tuple[Passage, ...]:
    """What the documents say to this task. A search that fails costs only its findings, and the person is told."""
    if context.knowledge is None:
        return ()
    try:
        found = await context.knowledge.search(text, limit=PASSAGES)
    except OSError as error:
        logger.warning("the documents could not be searched: %s", error)
        context.emit(Told(text=sentence("told.no_documents")))
        return ()
    if found:
        names = ", ".join(dict.fromkeys(hit.file for hit in found))
        context.emit(Told(text=sentence("told.documents", names=names)))
    return found
