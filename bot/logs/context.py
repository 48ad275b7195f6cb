"""What a line in the log is about: the task, and the run and phone that work on it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from agent.run_id import RunId


@dataclass(slots=True)
class About:
    """Ids and the phone's name, empty while there is none. One object for all that works on the task: whatever began
    before the phone was known tells it as well.
    """

    task: str
    run: RunId | None = None
    phone: str = ""

    def fields(self) -> dict[str, str]:
        """What is known."""
        known = {"task": self.task, "run": str(self.run or ""), "phone": self.phone}
        return {name: value for name, value in known.items() if value}


ABOUT: ContextVar[About | None] = ContextVar("about", default=None)
"""Set where work on a task begins; tasks that are started from there carry it along."""


def fields() -> dict[str, str]:
    """What the work that is going on is about."""
    about = ABOUT.get()
    return {} if about is None else about.fields()
