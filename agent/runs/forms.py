"""Orders and endings of sub-tasks, to and from the executor graph."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from agent.events import RunEnded
from agent.graph.executor.state import ExecutorState, ResultData, usage_of
from agent.outcome import Outcome
from agent.ports.runner import RunOrder

NODES_PER_STEP = 8


def config_of(order: RunOrder) -> RunnableConfig:
    """The thread of the run, and room for all its steps."""
    return {
        "configurable": {"thread_id": f"run:{order.run}"},
        "recursion_limit": order.max_steps * NODES_PER_STEP + 20,
    }


def fresh(order: RunOrder) -> ExecutorState:
    """The state that a sub-task begins with."""
    return {
        "run": order.run,
        "subtask": order.subtask,
        "task": order.task,
        "goal": order.goal,
        "plan": order.plan,
        "max_steps": order.max_steps,
        "notes": list(order.notes),
    }


def ended(order: RunOrder, values: dict[str, Any], result: ResultData | None = None) -> RunEnded:
    """The end, from the values of the graph; `result` in place of the graph's own."""
    result = result or values["result"]
    return RunEnded(
        run=order.run,
        subtask=order.subtask,
        outcome=Outcome(result["outcome"]),
        summary=result["summary"],
        data=result["data"],
        notes=tuple(values["notes"]),
        steps=len(values["past"]),
        usage=usage_of(values),  # type: ignore[arg-type]  # the graph's own values are its state
        frame=values["frame"],
    )
