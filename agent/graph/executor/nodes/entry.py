"""executor_entry: begins a sub-task with clean counters."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.graph.executor.context import RunContext
from agent.graph.executor.state import NEW_SUBTASK, ExecutorState, ending, joined
from agent.outcome import Outcome
from agent.wording import sentence


async def executor_entry(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "executor_exit"]]:
    """Reset all that is not the run's own."""
    del state
    if runtime.context.control.cancelled:
        cancelled = ending(Outcome.CANCELLED, sentence("ended.cancelled_first"))
        return Command(goto="executor_exit", update=joined(NEW_SUBTASK, cancelled))
    return Command(goto="screenshot", update=NEW_SUBTASK)
