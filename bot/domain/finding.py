"""The result of checking one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.models.cause import Cause

Area = Literal["computer", "files", "service", "adb", "phone", "model", "chat"]
Verdict = Literal["good", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `fix` is what to do about it, "" for nothing; `cause` is why a model fails."""

    area: Area
    verdict: Verdict
    text: str
    fix: str = ""
    cause: Cause | None = None
