"""The interface of the operator's documents, which are searched for the planner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document; `file` is its path inside the documents folder."""

    file: str
    text: str


class Knowledge(Protocol):
    """A searchable collection of documents."""

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        """Return the passages that best match the query, best first; empty if none match. Raises OSError."""
        ...
