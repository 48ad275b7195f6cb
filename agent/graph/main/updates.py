"""State updates that several nodes make: ending a task (because of a failing model, a limit or a person), and merging
the reports of members.

Reports are merged in the order of their sub-task numbers, not of their arrival.
"""

from __future__ import annotations

from agent.control import Control, Stopped
from agent.error_mapping import Fault, FaultKind, fault_of
from agent.graph.main.context import TaskContext
from agent.graph.main.state import MainState, ProgressState, joined
from agent.graph.member.members import MemberEnded
from agent.graph.subjects import spent
from agent.limits import BudgetReached
from agent.models.errors import ModelError
from agent.outcome import Outcome


def ended_by(error: ModelError | Stopped | BudgetReached, control: Control, progress: ProgressState) -> MainState:
    """Return the update that ends the task because of this error, and adds the error's cost to the progress.

    A shutdown does not end a task: Stopped is raised again then, so that the task is continued later.
    """
    if isinstance(error, Stopped):
        if not control.cancelled:
            raise error
        fault = {"kind": FaultKind.PERSON.value, "outcome": Outcome.CANCELLED.value, "summary": ""}
        return {"ending": {"fault": fault}}
    if isinstance(error, BudgetReached):
        return fault_update(error.fault)
    return joined(fault_update(fault_of(error)), {"progress": {"usage": (spent(progress) + error.usage).data()}})


def fault_update(fault: Fault) -> MainState:
    """Return the update that ends the task with this fault."""
    known = {"kind": fault.kind.value, "outcome": fault.outcome.value, "summary": fault.sentence}
    return {"ending": {"fault": known}}


async def check_budget(state: MainState, context: TaskContext) -> None:
    """Raise BudgetReached if the task has used up its budget. Call this before anything that costs."""
    fault = await context.reached(state["progress"]["steps"], spent(state["progress"]))
    if fault is not None:
        raise BudgetReached(fault)


def todo_state(outcome: Outcome) -> str:
    """Return the state of a sub-task that ended with this outcome: "completed", "declined" or "failed"."""
    if outcome is Outcome.DECLINED:
        return "declined"
    return "completed" if outcome in {Outcome.SUCCEEDED, Outcome.UNVERIFIED} else "failed"


def with_sources(known: list[dict[str, str]], more: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return both lists of pages combined, with each address once, in the order of first reading."""
    pages = {page["url"]: page for page in known}
    for page in more:
        pages.setdefault(page["url"], page)
    return list(pages.values())


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
