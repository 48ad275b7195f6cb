"""executor_exit: the result is complete; the run tells it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agent.graph.executor.acting import written
from agent.graph.executor.context import RunContext
from agent.graph.executor.left_text import left_text
from agent.graph.executor.state import ExecutorState, ResultData, joined, result_of
from agent.graph.executor.steps import REPORTED, close_step, report_step
from agent.outcome import Outcome
from agent.wording import paragraph, sentence


async def executor_exit(state: ExecutorState, runtime: Runtime[RunContext]) -> ExecutorState:
    """Close the last step and see that there is a result."""
    context = runtime.context
    await written(context)
    report_step(state, context)
    context.screen.take_pending()
    update = joined(REPORTED, close_step(state, context) if state["step"]["performed"] else {})
    context.live.early.drop()
    result = state["progress"]["result"] or result_of(Outcome.FAILED, sentence("ended.no_result"))
    view = context.screen.view
    last = None if view is None else view.observation
    app = "" if last is None else last.app_name or context.policy.app_name(last.package)
    left = left_text(update.get("past", state["past"]), last, app)
    told: ResultData = {**result, "summary": paragraph(result["summary"], left)} if left else result
    return joined(update, {"progress": {"result": told}})
