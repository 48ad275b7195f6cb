"""What the executor graph keeps between its nodes: plain data only, pictures by reference."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal, NotRequired, TypedDict

from agent.faults import fault_of
from agent.models.base import Usage
from agent.outcome import Outcome

Node = Literal[
    "executor_entry",
    "screenshot",
    "vision_model",
    "action_summary",
    "parse_action",
    "execute_action",
    "call_user",
    "check_loop",
    "executor_exit",
]


ANSWERED = "answer: "
"""Begins the effect of a step whose question a person has answered."""


class PastData(TypedDict):
    """One step taken (see agent.scene.PastStep), its picture by reference."""

    number: int
    reply: str
    thought: str
    did: str
    effect: str
    app: str
    frame: str | None


class ReplyData(TypedDict):
    """A model's reply as it came, ready to be parsed (again)."""

    text: str
    reasoning: str
    tool_calls: list[dict[str, str]]
    finish_reason: NotRequired[str]


class DecisionData(TypedDict):
    """A reply, understood: actions as plain data."""

    thought: str
    summary: str
    actions: list[dict[str, Any]]


class ResultData(TypedDict):
    """How the sub-task ended."""

    outcome: str
    summary: str
    data: str | None


class ExecutorState(TypedDict, total=False):
    """The state of one sub-task of a run. `run` to `files` are the order; the rest is worked on.

    `files` are the paths on the phone of what came with the task.

    `index` is the next action of the decision; `did`, `effect` and `mark` collect what this step has done so far;
    `question` is what a person is asked (`aside`: between two steps, by no action; `asides` counts those), `approved`
    the action index that a person allowed, `secret` the id of a secret that waits to be typed, `covered` the places
    where secrets were seen (see agent.guards.masking), kept for the whole run as is `given_up`, the sub-tasks that
    ended because nothing moved; `told` is what the model is told next; `history` feeds the guard against loops;
    `untold` is the event of the last step, until it is known what its action changed (see agent.graph.executor.early);
    `gathered` is the last summing up of the notes, the data of the sub-task unless the model names other data.
    """

    run: str
    phone: str
    subtask: int
    task: str
    goal: str
    plan: str
    max_steps: int
    files: list[str]
    step: int
    bad_replies: int
    verify_rounds: int
    frame: str | None
    size: list[int]
    app: str
    app_name: str
    reply: ReplyData
    decision: DecisionData
    index: int
    did: list[str]
    effect: list[str]
    mark: list[int] | None
    question: dict[str, Any] | None
    approved: int | None
    anchor: dict[str, Any] | None
    secret: str | None
    covered: list[list[str]]
    aside: bool
    asides: int
    given_up: int
    told: list[str]
    untold: dict[str, Any] | None
    notes: list[str]
    past: list[PastData]
    history: list[list[str]]
    gathered: str | None
    usage: dict[str, Any]
    result: ResultData | None


def ended(outcome: Outcome, summary: str, data: str | None = None) -> ResultData:
    """A result as plain data."""
    return {"outcome": outcome.value, "summary": summary, "data": data}


def ended_by(error: Exception) -> ResultData:
    """The result of a sub-task that a fault has ended."""
    fault = fault_of(error)
    return ended(fault.outcome, fault.sentence)


def usage_of(state: ExecutorState) -> Usage:
    """The tokens spent so far."""
    return Usage(**state.get("usage", {}))


def usage_data(usage: Usage) -> dict[str, Any]:
    """Tokens as plain data."""
    return asdict(usage)
