"""The outcome of a task, computed from todos and results. Prose has no say in it."""

from __future__ import annotations

from typing import Any

from agent.graph.main.state import MainState
from agent.outcome import Outcome
from agent.wording import sentence


def outcome_of(state: MainState) -> Outcome:
    """A fault decides first, then the last result, then every todo that is not completed."""
    fault = state.get("fault")
    if fault is not None:
        return Outcome(fault["outcome"])
    if not state["results"]:
        return Outcome.BLOCKED if _all_refused(state) else Outcome.FAILED
    last = Outcome(state["results"][-1]["outcome"])
    if not state["todos"] or last in {Outcome.CANCELLED, Outcome.BLOCKED}:
        return last
    states = {todo["state"] for todo in state["todos"]}
    if states - {"completed", "refused"}:
        return Outcome.FAILED
    if "refused" in states:
        return Outcome.BLOCKED
    outcomes = [Outcome(result["outcome"]) for result in state["results"]]
    return Outcome.UNVERIFIED if Outcome.UNVERIFIED in outcomes else Outcome.SUCCEEDED


def told_plainly(state: MainState) -> str:
    """The summary without a model: what each part said, what was not done and why."""
    lines = [result["summary"] for result in state["results"] if result["summary"]]
    lines += [sentence("ended.refused", title=todo["title"], why=todo["note"]).strip() for todo in _refused(state)]
    left = [todo["title"] for todo in state["todos"] if todo["state"] in {"pending", "in progress"}]
    fault = state.get("fault")
    if fault is not None and fault["summary"]:
        lines.append(fault["summary"])
    if left:
        lines.append(sentence("ended.left", titles="; ".join(left)))
    return "\n".join(lines) or sentence("ended.nothing")


def _refused(state: MainState) -> list[dict[str, Any]]:
    return [todo for todo in state["todos"] if todo["state"] == "refused"]


def _all_refused(state: MainState) -> bool:
    return bool(state["todos"]) and len(_refused(state)) == len(state["todos"])
