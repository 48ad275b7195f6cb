"""The stored judgements by which the independent reader, a second model, called a control harmless, so that it is not
asked in every task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A stored judgement that a press is harmless.

    It was made by `model` for this version of an app at the time `at` (Unix seconds). `key` is a digest of the control,
    its window and all words around it, which are not stored themselves. `control` is a readable name of the control.
    """

    key: str
    package: str
    version: str
    control: str
    model: str
    at: float


class PressVerdicts(Protocol):
    """The store of harmless judgements, which survives a restart."""

    async def all(self, since: float) -> tuple[KeptVerdict, ...]:
        """Return the judgements made since this time (Unix seconds), newest first."""

    async def keep(self, verdict: KeptVerdict) -> None:
        """Store a judgement, replacing an older one with the same key."""

    async def clear(self) -> None:
        """Delete all judgements."""
