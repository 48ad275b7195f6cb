"""executor_exit: the result is complete; the run tells it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agent.graph.executor.context import RunContext
from agent.graph.executor.early import tell
from agent.graph.executor.state import ExecutorState, ended
from agent.graph.executor.steps import close_step
from agent.outcome import Outcome
from agent.wording import sentence


async def executor_exit(state: ExecutorState, runtime: Runtime[RunContext]) -> ExecutorState:
    """Close the last step and see that there is a result."""
    context = runtime.context
    tell(state, context)
    context.live.watch.pending = None
    update: ExecutorState = {"untold": None}
    if state["did"]:
        closed = close_step(state, context, did=state["did"], effect=state["effect"], told=[])
        update |= {"past": closed["past"], "usage": closed["usage"], "did": []}
    if state.get("result") is None:
        update["result"] = ended(Outcome.FAILED, sentence("ended.no_result"))
    return update
