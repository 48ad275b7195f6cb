"""Builds the main graph."""

from __future__ import annotations

from functools import cache

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agent.graph.main.context import TaskContext
from agent.graph.main.nodes.executor import executor
from agent.graph.main.nodes.intent_analyzer import intent_analyzer
from agent.graph.main.nodes.member import member
from agent.graph.main.nodes.plan_generator import plan_generator
from agent.graph.main.nodes.plan_supervisor import plan_supervisor
from agent.graph.main.nodes.summarizer import summarizer
from agent.graph.main.state import MainState

MainGraph = CompiledStateGraph[MainState, TaskContext, MainState, MainState]


def build_main(checkpointer: BaseCheckpointSaver[str] | None) -> MainGraph:
    """Return the compiled main graph with this checkpointer. The nodes' return types define its routes."""
    return _compiled().copy({"checkpointer": checkpointer})


@cache
def _compiled() -> MainGraph:
    """Return the graph without a checkpointer. Nodes hold no data of a task, so all agents of the process share it:
    reading their types and code takes 15 ms.
    """
    graph = StateGraph(MainState, context_schema=TaskContext)
    graph.add_node("intent_analyzer", intent_analyzer)
    graph.add_node("plan_generator", plan_generator)
    graph.add_node("plan_supervisor", plan_supervisor)
    graph.add_node("executor", executor)
    graph.add_node("member", member)
    graph.add_node("summarizer", summarizer)
    graph.add_edge(START, "intent_analyzer")
    graph.add_edge("summarizer", END)
    return graph.compile(name="task")
