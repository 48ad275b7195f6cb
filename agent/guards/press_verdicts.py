"""Where harmless verdicts of the independent reader are kept: a control is read once, and not in each task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A press that `model` has found harmless, in this version of an app. `key` is a digest of the control, its window
    and all words around it, which are not kept themselves; `at` is in Unix seconds.
    """

    key: str
    package: str
    version: str
    control: str
    model: str
    at: float


class PressVerdicts(Protocol):
    """The verdicts that outlive the process."""

    async def all(self, since: float) -> tuple[KeptVerdict, ...]:
        """Those that were given since then, the newest first."""
        ...

    async def keep(self, verdict: KeptVerdict) -> None:
        """Keep it, in place of an older one with its key."""
        ...

    async def clear(self) -> None:
        """Forget all of them."""
        ...
