"""Builds the executor graph, with the nodes in which a sub-task begins and ends."""

from __future__ import annotations

from functools import cache
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from agent.graph.executor.acting import written
from agent.graph.executor.context import RunContext
from agent.graph.executor.nodes.call_user import call_user
from agent.graph.executor.nodes.check_loop import check_loop
from agent.graph.executor.nodes.execute_action import execute_action
from agent.graph.executor.nodes.parse_action import parse_action
from agent.graph.executor.nodes.screenshot import screenshot
from agent.graph.executor.nodes.summaries import action_summary, sum_up_past
from agent.graph.executor.nodes.vision_model import vision_model
from agent.graph.executor.outgoing import left_text
from agent.graph.executor.state import NEW_SUBTASK, ExecutorState, ResultData, ending, joined, last_reason, result_of
from agent.graph.executor.steps import REPORTED, close_step, report_step
from agent.models.conversations import end_conversation
from agent.run import Outcome
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


ExecutorGraph = CompiledStateGraph[ExecutorState, RunContext, ExecutorState, ExecutorState]


@cache
def executor_graph() -> ExecutorGraph:
    """Return the compiled executor graph, without a checkpointer. The nodes' return types define its routes. Nodes hold
    no data of a run, so all agents of the process share it: reading their types and code takes 25 ms.
    """
    graph = StateGraph(ExecutorState, context_schema=RunContext)
    graph.add_node("executor_entry", executor_entry)
    graph.add_node("screenshot", screenshot)
    graph.add_node("vision_model", vision_model)
    graph.add_node("action_summary", action_summary)
    graph.add_node("parse_action", parse_action)
    graph.add_node("execute_action", execute_action)
    graph.add_node("call_user", call_user)
    graph.add_node("check_loop", check_loop)
    graph.add_node("sum_up_past", sum_up_past)
    graph.add_node("executor_exit", executor_exit)
    graph.add_edge(START, "executor_entry")
    graph.add_edge("executor_exit", END)
    return graph.compile(name="executor")
