"""What the main graph keeps between its nodes: plain data only, a tree with one branch for each subject.

Nodes return the keys that are new, subject by subject (see agent.graph.subjects).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypedDict, cast

from agent.graph.subjects import joined_subjects, merged
from agent.ports.agent import EarlierTask, ReceivedText, TaskOrder

Kind = Literal["chat", "refuse", "member", "simple", "complex"]
VERSION: Final = 1
"""Of the shape of this state, kept with it."""


class PlanState(TypedDict, total=False):
    """How the task is gone about."""

    kind: Kind
    """What kind of request it is."""
    skill: str
    """The skill that is followed: the ordered one, or that which was chosen for the request; "" for none."""
    arguments: dict[str, str]
    """What the skill is done with, by the names of its parameters."""
    text: str
    """The plan as Markdown; "" for a task without one."""
    todos: list[dict[str, Any]]
    """The parts of the plan (agent.events.Todo)."""
    documents: list[str]
    """The passages of the operator's documents that the planner was told."""
    replans: int
    """How often the way was changed."""


class ProgressState(TypedDict, total=False):
    """What is worked on, and what that has taken so far."""

    current_todo: int | None
    """The place of the todo that the executor works on; None for the whole task, or none."""
    goal: str
    """What is to be reached now."""
    assignments: list[dict[str, Any]]
    """All parts that are worked on at once, each with `number`, `member`, `todo` and `goal`."""
    subtask: int
    """How many parts were handed out and have ended."""
    phone: str
    """The stable id of the phone that the task works on; "" for any free one."""
    steps: int
    """The steps taken on phones."""
    seconds: float
    """How long the task was worked on."""
    usage: dict[str, Any]
    """The tokens of the task (agent.models.base.Usage)."""


class FindingsState(TypedDict, total=False):
    """What the work has brought."""

    results: list[dict[str, Any]]
    """What came of each part (plain forms of agent.events.RunEnded and MemberEnded)."""
    notes: list[str]
    """What was written down on the way."""
    sources: list[dict[str, str]]
    """The pages that were read (agent.events.Source)."""
    user_messages: list[str]
    """What the person has written since the task began."""
    frame: str | None
    """The last picture of a phone, by reference."""


class EndingState(TypedDict, total=False):
    """How the task ends."""

    fault: dict[str, str] | None
    """What the whole task has run into, with `kind`, `outcome` and `summary`."""
    run_outcome: str
    """The outcome of a run that no other way can mend; "" while there is none."""
    outcome: str
    """The outcome of the task (agent.outcome.Outcome)."""
    summary: str
    """The end in words, for people."""
    data: str | None
    """What was asked for."""
    value: dict[str, Any] | None
    """The same in the form that the order asks for (agent.result_value.Value)."""
    needs_model: dict[str, Any] | None
    """What it lacks, where it takes a model and none is set (agent.outcome.NeedsModel)."""


class MainState(TypedDict, total=False):
    """The state of one task."""

    version: int
    """The shape of the state (`VERSION`)."""
    order: dict[str, Any]
    """What a person asked, as plain data: read it with `order_of`."""
    plan: Annotated[PlanState, merged]
    """How the task is gone about."""
    progress: Annotated[ProgressState, merged]
    """What is worked on."""
    findings: Annotated[FindingsState, merged]
    """What the work has brought."""
    ending: Annotated[EndingState, merged]
    """How the task ends."""
    reports: Annotated[dict[str, Any], merged]
    """What members have brought back, by the numbers of their parts, that is not among the results yet."""


def begun(order: TaskOrder) -> MainState:
    """The state that a task begins with. The guidance comes with each order anew and is kept in no state."""
    return {
        "version": VERSION,
        "order": order.model_dump(mode="json", exclude={"guidance", "earlier", "received"}),
        "plan": {
            "kind": "simple",
            "skill": order.skill,
            "arguments": order.arguments,
            "text": "",
            "todos": [],
            "documents": [],
            "replans": 0,
        },
        "progress": {
            "current_todo": None,
            "goal": "",
            "assignments": [],
            "subtask": 0,
            "phone": order.phone,
            "steps": 0,
            "seconds": 0.0,
            "usage": {},
        },
        "findings": {
            "results": [],
            "notes": [
                *map(_of_earlier, order.earlier, range(len(order.earlier), 0, -1)),
                *map(_of_received, order.received),
            ],
            "sources": [],
            "user_messages": [],
            "frame": None,
        },
        "ending": {"fault": None, "run_outcome": "", "summary": "", "data": None, "value": None, "needs_model": None},
    }


_EARLIER_LETTERS: Final = 2_000
"""Of the answer of an earlier task: it stands in the prompt of every step."""
_LONG_AGO_LETTERS: Final = 300
"""Of one that is not among the last three."""


def _of_earlier(task: EarlierTask, ago: int) -> str:
    """An earlier task as a note, so that "the second one" is understood by whoever plans and works. The last one was
    one task ago.
    """
    if not task.outcome:
        return f"Before this the person asked: {task.text}. That has not ended yet."
    answer = " ".join(f"{task.summary} {task.data or ''}".split())
    most = _EARLIER_LETTERS if ago <= 3 else _LONG_AGO_LETTERS
    return f"Before this the person asked: {task.text}. It ended as {task.outcome}: {answer[:most]}"


def _of_received(received: ReceivedText) -> str:
    """A text of others as a note. The person has not written it, and it orders nothing."""
    words = " ".join(received.text.split())
    return f"The task began with {received.source}, which others have written: {words[:_EARLIER_LETTERS]}"


def order_of(state: MainState) -> TaskOrder:
    """What a person asked."""
    return TaskOrder.model_validate(state["order"])


def joined(*updates: MainState) -> MainState:
    """Several updates as one, or a state with an update; of what two of them have, the later counts."""
    return cast("MainState", joined_subjects(updates))
