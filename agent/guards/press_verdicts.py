"""Stores the independent reader's harmless verdicts, so that a control is judged once and not in every task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A press that `model` judged harmless in this version of an app. `key` is a digest of the control, its window and
    all words around it, which are not stored themselves. `at` is in Unix seconds.
    """

    key: str
    package: str
    version: str
    control: str
    model: str
    at: float


class PressVerdicts(Protocol):
    """The stored verdicts, which survive a restart."""

    async def all(self, since: float) -> tuple[KeptVerdict, ...]:
        """Return the verdicts given since then, newest first."""
        ...

    async def keep(self, verdict: KeptVerdict) -> None:
        """Store a verdict, replacing an older one with the same key."""
        ...

    async def clear(self) -> None:
        """Delete all verdicts."""
        ...
