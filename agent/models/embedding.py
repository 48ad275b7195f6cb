"""Texts as vectors, as whoever compares meanings sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = tuple[float, ...]


class EmbeddingFailed(Exception):
    """There are no vectors; the text says why, without the key and without what was to be compared."""


class Embedder(Protocol):
    """Makes a vector of a text: the nearer two vectors, the nearer what the texts mean."""

    @property
    def name(self) -> str:
        """What made the vectors; only those of one name can be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """The vectors of these texts, each of length 1. Raises EmbeddingFailed."""
        ...
