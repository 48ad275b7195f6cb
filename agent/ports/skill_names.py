"""The interface that stores what a recorded skill's words are called on phones in other languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class SkillNames(Protocol):
    """Stores names by skill and locale. A name is only searched for, never a reason to touch anything else."""

    async def names(self, skill: str, locale: str) -> dict[str, str]:
        """Return the learned names of recorded words (casefolded) for this locale; empty if there are none."""
        ...

    async def keep_names(self, skill: str, locale: str, names: Mapping[str, str]) -> None:
        """Replace the learned names of this skill and locale; an empty mapping deletes them."""
        ...
