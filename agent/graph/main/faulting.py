"""What a node of the main graph does when a model fails or a person stops it."""

from __future__ import annotations

from typing import Any

from agent.control import Control, Stopped
from agent.faults import fault_of
from agent.models.errors import ModelError
from agent.outcome import Outcome


def ended_by(error: ModelError | Stopped, control: Control) -> dict[str, Any]:
    """The update that ends the task. A shutdown is no end: Stopped is raised again, to be continued later."""
    if isinstance(error, Stopped):
        if not control.cancelled:
            raise error
        return {"fault": {"outcome": Outcome.CANCELLED.value, "summary": "Cancelled."}}
    fault = fault_of(error)
    return {"fault": {"outcome": fault.outcome.value, "summary": fault.sentence}}
