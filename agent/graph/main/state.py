"""What the main graph keeps between its nodes: plain data only."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Kind = Literal["chat", "refuse", "simple", "complex"]


class MainState(TypedDict, total=False):
    """The state of one task. `task` to `standing` are the order; the rest is worked on.

    `todos` and `results` are plain forms of agent.events.Todo and RunEnded; `current` is the todo that the executor
    works on; `subtask` counts what was handed to the executor, `replans` how often the way was changed; `heard` is
    what the person has written meanwhile, `seconds` how long the task was worked on.
    """

    task: str
    text: str
    phone: str
    quick: bool
    max_steps: int
    files: list[dict[str, str]]
    standing: list[dict[str, Any]]
    kind: Kind
    plan: str
    todos: list[dict[str, Any]]
    current: int | None
    goal: str
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
    steps: int
    frame: str | None
