"""Builds the executor graph."""

from __future__ import annotations

from functools import cache

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agent.graph.executor.context import RunContext
from agent.graph.executor.nodes.action_summary import action_summary
from agent.graph.executor.nodes.call_user import call_user
from agent.graph.executor.nodes.check_loop import check_loop
from agent.graph.executor.nodes.ends import executor_entry, executor_exit
from agent.graph.executor.nodes.execute_action import execute_action
from agent.graph.executor.nodes.parse_action import parse_action
from agent.graph.executor.nodes.screenshot import screenshot
from agent.graph.executor.nodes.sum_up_past import sum_up_past
from agent.graph.executor.nodes.vision_model import vision_model
from agent.graph.executor.state import ExecutorState

ExecutorGraph = CompiledStateGraph[ExecutorState, RunContext, ExecutorState, ExecutorState]


def build_executor(checkpointer: BaseCheckpointSaver[str] | None) -> ExecutorGraph:
    """Return the compiled executor graph with this checkpointer. The nodes' return types define its routes."""
    return _compiled().copy({"checkpointer": checkpointer})


@cache
def _compiled() -> ExecutorGraph:
    """Return the graph without a checkpointer. Nodes hold no data of a run, so all agents of the process share it:
    reading their types and code takes 25 ms.
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
