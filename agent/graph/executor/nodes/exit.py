"""executor_exit: the result is complete; the run tells it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agent.effect_facts import effects_of
from agent.graph.executor.acting import written
from agent.graph.executor.context import RunContext
from agent.graph.executor.left_text import left_text
from agent.graph.executor.state import ExecutorState, did_of, ended
from agent.graph.executor.steps import close_step, tell
from agent.outcome import Outcome
from agent.wording import paragraph, sentence


async def executor_exit(state: ExecutorState, runtime: Runtime[RunContext]) -> ExecutorState:
    """Close the last step and see that there is a result."""
    context = runtime.context
    await written(context)
    tell(state, context)
    context.screen.take_pending()
    update: ExecutorState = {"untold": None}
    if state["did"]:
        closed = close_step(state, context, did=did_of(state["did"]), effect=effects_of(state["effect"]), told=[])
        update |= {"past": closed["past"], "usage": closed["usage"], "did": [], "fate": None}
    context.live.early.drop()
    result = state.get("result") or ended(Outcome.FAILED, sentence("ended.no_result"))
    view = context.screen.view
    last = None if view is None else view.observation
    app = "" if last is None else last.app_name or context.policy.app_name(last.package)
    left = left_text(update.get("past", state["past"]), last, app)
    update["result"] = {**result, "summary": paragraph(result["summary"], left)} if left else result
    return update
