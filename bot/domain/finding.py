"""What is said about one thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.models.cause import Cause

Area = Literal["computer", "files", "service", "adb", "phone", "model", "chat"]
Verdict = Literal["good", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `fix` is what to do, empty where nothing is to be done; `cause` is why a model fails."""

    area: Area
    verdict: Verdict
    text: str
    fix: str = ""
    cause: Cause | None = None
