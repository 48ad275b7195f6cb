"""The interface of a store for translations: what the words of a recorded skill are called on phones in other
languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class SkillNames(Protocol):
    """Stores translations by skill and locale. A translation only changes what is searched for, and never makes
    anything else be touched.
    """

    async def names(self, skill: str, locale: str) -> dict[str, str]:
        """Return the translations of a skill's recorded words (casefolded) for this locale; empty if there are none."""
        ...

    async def keep_names(self, skill: str, locale: str, names: Mapping[str, str]) -> None:
        """Replace the translations of this skill and locale; an empty mapping deletes them."""
        ...
