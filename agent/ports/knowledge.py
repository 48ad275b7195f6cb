"""Documents that the operator gave, for whoever plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document; `file` is its path inside the folder."""

    file: str
    text: str


class Knowledge(Protocol):
    """Searchable documents."""

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        """The passages that fit the words best, best first; empty when none does. Raises OSError."""
        ...
