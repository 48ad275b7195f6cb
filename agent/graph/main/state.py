"""What the main graph keeps between its nodes: plain data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

Kind = Literal["chat", "refuse", "member", "simple", "complex"]


def merged(old: Mapping[str, Any], new: Mapping[str, Any] | None) -> dict[str, Any]:
    """Both, the new one winning; None empties it. What several members write at once adds up in any order."""
    return {} if new is None else {**old, **new}


class MainState(TypedDict, total=False):
    """The state of one task. `task` to `result` are the order; the rest is worked on.

    `todos` and `results` are plain forms of agent.events.Todo and of RunEnded or MemberEnded; `current` is the todo
    that the executor works on, `assignments` are all that are worked on at once, and `reports` by their numbers what
    members have brought back that is not among the results yet. `subtask` counts what was handed out, `replans` how
    often the way was changed; `heard` is what the person has written meanwhile, `seconds` how long the task was worked
    on.
    `ending` is the outcome of a run that no other way can mend. `sources` are the pages that were read, `documents` the
    passages of the operator's documents that the planner was told. `result` is the form that the result is to have, and
    `value` the result in it.
    """

    task: str
    text: str
    person: str
    member: str
    deep: bool | None
    search: bool
    skill: str
    arguments: dict[str, str]
    phone: str
    quick: bool
    max_steps: int
    files: list[dict[str, str]]
    standing: list[dict[str, Any]]
    result: dict[str, Any] | None
    kind: Kind
    plan: str
    todos: list[dict[str, Any]]
    current: int | None
    goal: str
    assignments: list[dict[str, Any]]
    reports: Annotated[dict[str, Any], merged]
    ending: str
    sources: list[dict[str, str]]
    documents: list[str]
    subtask: int
    replans: int
    results: list[dict[str, Any]]
    notes: list[str]
    heard: list[str]
    seconds: float
    usage: dict[str, Any]
    fault: dict[str, str] | None
    outcome: str
    summary: str
    data: str | None
    value: dict[str, Any] | None
    steps: int
    frame: str | None
