"""The result of one check of the installation, as the `doctor` command and the console show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.models.state import Cause

Area = Literal["computer", "files", "service", "adb", "phone", "model", "chat"]
Verdict = Literal["good", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    - `area`: What was checked.
    - `verdict`: Whether it works, works with a remark ("note"), or does not.
    - `text`: The result in words.
    - `fix`: What to do about it, "" if nothing.
    - `cause`: Why a model cannot be used; None otherwise.
    """

    area: Area
    verdict: Verdict
    text: str
    fix: str = ""
    cause: Cause | None = None
