"""The interface of an embedder, which turns texts into vectors for comparing their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = tuple[float, ...]


class EmbeddingFailed(Exception):
    """No vectors could be made; the message says why, without the key and the texts."""


class Embedder(Protocol):
    """Converts texts to vectors. The closer two vectors, the closer the meanings."""

    @property
    def name(self) -> str:
        """The name of the source of the vectors. Only vectors with the same name can be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return the vectors of these texts, each of length 1. Raises EmbeddingFailed."""
        ...
