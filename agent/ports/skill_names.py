"""What the words of a recorded skill are called on phones of other languages: learned in one run, known to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class SkillNames(Protocol):
    """Keeps names by skill and locale. A name is data that is searched for, never a reason to touch anything else."""

    async def names(self, skill: str, locale: str) -> dict[str, str]:
        """What recorded words, folded, are called on phones with this locale; empty where nobody has learned it."""
        ...

    async def keep_names(self, skill: str, locale: str, names: Mapping[str, str]) -> None:
        """These are known from now on, in place of those before; none forgets them."""
        ...
