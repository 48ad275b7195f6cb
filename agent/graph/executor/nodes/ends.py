"""The nodes in which a sub-task begins and ends."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.graph.executor.acting import written
from agent.graph.executor.context import RunContext
from agent.graph.executor.left_text import left_text
from agent.graph.executor.state import NEW_SUBTASK, ExecutorState, ResultData, ending, joined, last_reason, result_of
from agent.graph.executor.steps import REPORTED, close_step, report_step
from agent.models.conversations import end_conversation
from agent.outcome import Outcome
from agent.wording import paragraph, sentence


async def executor_entry(
    state: ExecutorState, runtime: Runtime[RunContext]
) -> Command[Literal["screenshot", "executor_exit"]]:
    """Begin a sub-task: reset all state that does not belong to the run as a whole."""
    del state
    if runtime.context.control.cancelled:
        cancelled = ending(Outcome.CANCELLED, sentence("ended.cancelled_first"))
        return Command(goto="executor_exit", update=joined(NEW_SUBTASK, cancelled))
    return Command(goto="screenshot", update=NEW_SUBTASK)


async def executor_exit(state: ExecutorState, runtime: Runtime[RunContext]) -> ExecutorState:
    """End a sub-task: close the last step and make sure that there is a result, which the run reports."""
    context = runtime.context
    await written(context)
    report_step(state, context)
    context.screen.take_pending()
    update = joined(REPORTED, close_step(state, context) if state["step"]["performed"] else {})
    context.memory.early.drop()
    end_conversation(context.config.models.vision, state["order"]["run"])
    result = state["progress"]["result"] or result_of(Outcome.FAILED, sentence("ended.no_result"))
    view = context.screen.view
    last = None if view is None else view.observation
    app = "" if last is None else last.app_name or context.policy.app_name(last.package)
    past = update.get("past", state["past"])
    why = last_reason(past)[0] if Outcome(result["outcome"]) in {Outcome.FAILED, Outcome.BLOCKED} else ""
    said_so = "" if why in result["summary"] else sentence("ended.phone_said", why=why)
    left = left_text(past, last, app)
    told: ResultData = {**result, "summary": paragraph(result["summary"], said_so, left)} if said_so or left else result
    return joined(update, {"progress": {"result": told}})
