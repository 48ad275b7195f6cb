"""What a node of the main graph does when a model fails, a limit is reached or a person stops it."""

from __future__ import annotations

from agent.control import Control, Stopped
from agent.error_mapping import Fault, FaultKind, fault_of
from agent.graph.main.context import TaskContext
from agent.graph.main.state import MainState
from agent.graph.subjects import spent
from agent.limits import BudgetReached
from agent.models.errors import ModelError
from agent.outcome import Outcome


def ended_by(error: ModelError | Stopped | BudgetReached, control: Control) -> MainState:
    """The update that ends the task. A shutdown is no end: Stopped is raised again, to be continued later."""
    if isinstance(error, Stopped):
        if not control.cancelled:
            raise error
        fault = {"kind": FaultKind.PERSON.value, "outcome": Outcome.CANCELLED.value, "summary": ""}
        return {"ending": {"fault": fault}}
    return fault_update(error.fault if isinstance(error, BudgetReached) else fault_of(error))


def fault_update(fault: Fault) -> MainState:
    """The update that ends the task with this fault."""
    known = {"kind": fault.kind.value, "outcome": fault.outcome.value, "summary": fault.sentence}
    return {"ending": {"fault": known}}


async def check_budget(state: MainState, context: TaskContext) -> None:
    """Raises BudgetReached when the task has used up what it may. Asked before anything that costs."""
    fault = await context.reached(state["progress"]["steps"], spent(state["progress"]))
    if fault is not None:
        raise BudgetReached(fault)
