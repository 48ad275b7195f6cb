"""Keeps track of which task, run and phone the current work is about; log lines contain them."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from agent.run import RunId


@dataclass(slots=True)
class About:
    """The task, run and phone of the current work; run and phone are "" while they are unknown. All work on a task
    shares one object, so work that began before the phone was known logs it as well.
    """

    task: str
    run: RunId | None = None
    phone: str = ""

    def fields(self) -> dict[str, str]:
        """Return the fields that are known, by name."""
        known = {"task": self.task, "run": str(self.run or ""), "phone": self.phone}
        return {name: value for name, value in known.items() if value}


ABOUT: ContextVar[About | None] = ContextVar("about", default=None)
"""Set where work on a task begins; asyncio tasks started from there inherit it."""


def fields() -> dict[str, str]:
    """Return the known fields (task, run, phone) of the current work, by name; empty outside the work on a task."""
    about = ABOUT.get()
    return {} if about is None else about.fields()
