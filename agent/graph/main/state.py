"""The state of the main graph (plain data only, as a tree with one branch per subject), and the updates that several
nodes make.

Nodes return the changed keys, by subject (see agent.graph.subjects).

Reports are merged in the order of their sub-task numbers, not of their arrival.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypedDict, cast

from agent.control import Control, Stopped
from agent.error_mapping import BY_PERSON, Fault, fault_of
from agent.graph.main.context import TaskContext
from agent.graph.member.members import MemberEnded
from agent.graph.subjects import joined_subjects, merged, spent, with_sources
from agent.limits import BudgetReached
from agent.models.base import Usage
from agent.models.errors import ModelError
from agent.ports.agent import EarlierTask, ReceivedText, TaskOrder
from agent.run import Outcome

Kind = Literal["chat", "refuse", "member", "simple", "complex"]
VERSION: Final = 1
"""The version of this state's format, stored with it."""


class PlanState(TypedDict, total=False):
    """How the task is approached."""

    kind: Kind
    """The kind of request."""
    skill: str
    """The skill being followed, as ordered or chosen for the request; "" for none."""
    arguments: dict[str, str]
    """The skill's arguments, by parameter name."""
    text: str
    """The plan as Markdown; "" for a task without one."""
    todos: list[dict[str, Any]]
    """The sub-tasks of the plan (agent.events.Todo)."""
    documents: list[str]
    """The passages of the operator's documents given to the planner."""
    replans: int
    """How often the plan was changed."""


class ProgressState(TypedDict, total=False):
    """What is in progress, and what it has used so far."""

    current_todo: int | None
    """The index of the sub-task that the executor works on; None if it works on the whole task or on nothing."""
    goal: str
    """The current goal."""
    assignments: list[dict[str, Any]]
    """All sub-tasks in progress at once, each with `number`, `member`, `todo` and `goal`."""
    subtask: int
    """The number of the last sub-task that was assigned and has ended; 0 if none has."""
    phone: str
    """The stable id of the task's phone; "" for any free one."""
    steps: int
    """The steps taken on phones."""
    seconds: float
    """The seconds worked on the task."""
    usage: dict[str, Any]
    """The tokens of the task (agent.models.base.Usage)."""


class FindingsState(TypedDict, total=False):
    """What the work has produced."""

    results: list[dict[str, Any]]
    """The result of each sub-task, as plain data (`agent.events.RunEnded` or `MemberEnded`)."""
    notes: list[str]
    """The notes made on the way."""
    sources: list[dict[str, str]]
    """The pages that were read (agent.events.Source)."""
    user_messages: list[str]
    """What the person has written since the task began."""
    frame: str | None
    """A reference to the last screenshot."""


class EndingState(TypedDict, total=False):
    """How the task ends."""

    fault: dict[str, str] | None
    """The fault that ends the whole task, with `kind`, `outcome` and `summary`; None if there is none."""
    run_outcome: str
    """The outcome of a run after which no other approach can help; "" if there is none."""
    outcome: str
    """The outcome of the task (agent.run.Outcome)."""
    summary: str
    """A text for people about how the task ended."""
    data: str | None
    """The requested data."""
    value: dict[str, Any] | None
    """The data in the form that the order requires (`agent.task_results.Value`); None if there is none."""
    needs_model: dict[str, Any] | None
    """Why the task requires a model while none is configured (`agent.run.NeedsModel`); None if that is not so."""


class MainState(TypedDict, total=False):
    """The state of one task."""

    version: int
    """The version of the format (`VERSION`)."""
    order: dict[str, Any]
    """The person's request as plain data; read it with `order_of`."""
    plan: Annotated[PlanState, merged]
    """How the task is approached."""
    progress: Annotated[ProgressState, merged]
    """What is in progress."""
    findings: Annotated[FindingsState, merged]
    """What the work has produced."""
    ending: Annotated[EndingState, merged]
    """How the task ends."""
    reports: Annotated[dict[str, Any], merged]
    """Reports of members by sub-task number that are not among the results yet."""


def begun(order: TaskOrder) -> MainState:
    """Return the initial state of a task. The person's guidance is left out, because it comes with each order again and
    is never stored.
    """
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
"""The maximum letters of an earlier task's answer, which is in every step's prompt."""
_LONG_AGO_LETTERS: Final = 300
"""The same for a task that is not among the last three."""


def _of_earlier(task: EarlierTask, ago: int) -> str:
    """Return an earlier task as a note, so that references such as "the second one" are understood. The previous task
    is one task ago.
    """
    if not task.outcome:
        return f"Before this the person asked: {task.text}. That has not ended yet."
    answer = " ".join(f"{task.summary} {task.data or ''}".split())
    most = _EARLIER_LETTERS if ago <= 3 else _LONG_AGO_LETTERS
    return f"Before this the person asked: {task.text}. It ended as {task.outcome}: {answer[:most]}"


def _of_received(received: ReceivedText) -> str:
    """Return a text by others as a note. The person did not write it, so it gives no orders."""
    words = " ".join(received.text.split())
    return f"The task began with {received.source}, which others have written: {words[:_EARLIER_LETTERS]}"


def order_of(state: MainState) -> TaskOrder:
    """Return the person's request."""
    return TaskOrder.model_validate(state["order"])


def joined(*updates: MainState) -> MainState:
    """Combine several updates into one, or apply updates to a state. For a key in two of them, the later one wins."""
    return cast("MainState", joined_subjects(updates))


def ended_by(error: ModelError | Stopped | BudgetReached, control: Control, progress: ProgressState) -> MainState:
    """Return the update that ends the task because of this error, and adds the error's cost to the progress.

    A shutdown does not end a task: Stopped is raised again then, so that the task is continued later.
    """
    if isinstance(error, Stopped):
        if not control.cancelled:
            raise error
        return fault_update(BY_PERSON)
    if isinstance(error, BudgetReached):
        return fault_update(error.fault)
    return joined(fault_update(fault_of(error)), {"progress": {"usage": (spent(progress) + error.usage).data()}})


def fault_update(fault: Fault) -> MainState:
    """Return the update that ends the task with this fault."""
    return {"ending": {"fault": fault.data()}}


def spent_update(state: MainState, context: TaskContext, usage: Usage) -> MainState:
    """Return the update that adds these tokens to the progress, and the seconds worked so far."""
    used = spent(state["progress"]) + usage
    return {"progress": {"usage": used.data(), "seconds": context.session.stopwatch.seconds}}


async def check_budget(state: MainState, context: TaskContext) -> None:
    """Raise BudgetReached if the task has used up its budget. Call this before anything that costs."""
    fault = await context.reached_limit(state["progress"]["steps"], spent(state["progress"]))
    if fault is not None:
        raise BudgetReached(fault)


def todo_state(outcome: Outcome) -> str:
    """Return the state of a sub-task that ended with this outcome: "completed", "declined" or "failed"."""
    if outcome is Outcome.DECLINED:
        return "declined"
    return "completed" if outcome in {Outcome.SUCCEEDED, Outcome.UNVERIFIED} else "failed"


def folded(state: MainState) -> MainState:
    """Return the update that moves the reports of members into the results, the plan and the usage; empty if there are
    none.
    """
    reports = sorted(state.get("reports", {}).items(), key=lambda report: int(report[0]))
    if not reports:
        return {}
    progress, findings = state["progress"], state["findings"]
    todos = [dict(todo) for todo in state["plan"]["todos"]]
    results, notes, sources = [*findings["results"]], [*findings["notes"]], [*findings["sources"]]
    usage, fault = spent(progress), state["ending"]["fault"]
    places = {each["number"]: each["todo"] for each in progress["assignments"]}
    for name, report in reports:
        number = int(name)
        ended = MemberEnded.model_validate(report)
        results.append(ended.model_dump(mode="json", exclude={"usage", "notes", "fault", "sources"}))
        notes += [note for note in ended.notes if note not in notes]
        sources = with_sources(sources, [page.model_dump() for page in ended.sources])
        usage += ended.usage
        fault = fault or ended.fault
        place = places.get(number)
        if place is not None and place < len(todos):
            todos[place] |= {"state": todo_state(ended.outcome), "note": ended.summary}
    return {
        "plan": {"todos": todos},
        "progress": {
            "usage": usage.data(),
            "subtask": max(progress["subtask"], *(int(name) for name, _ in reports)),
        },
        "findings": {"results": results, "notes": notes, "sources": sources},
        "ending": {"fault": fault},
        "reports": None,  # type: ignore[typeddict-item]  # None empties the channel
    }
