"""The outcome of a task, computed from todos and results. Prose has no say in it."""

from __future__ import annotations

from agent.graph.main.state import MainState
from agent.outcome import Outcome


def outcome_of(state: MainState) -> Outcome:
    """A fault decides first, then the last result, then every todo that is not completed."""
    fault = state.get("fault")
    if fault is not None:
        return Outcome(fault["outcome"])
    if not state["results"]:
        return Outcome.FAILED
    last = Outcome(state["results"][-1]["outcome"])
    if not state["todos"] or last in {Outcome.CANCELLED, Outcome.BLOCKED}:
        return last
    if any(todo["state"] != "completed" for todo in state["todos"]):
        return Outcome.FAILED
    outcomes = [Outcome(result["outcome"]) for result in state["results"]]
    return Outcome.UNVERIFIED if Outcome.UNVERIFIED in outcomes else Outcome.SUCCEEDED
