"""The interfaces of models that are not language models: embedders, which turn texts into vectors, and transcribers,
which convert speech to text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Vector = tuple[float, ...]


class EmbeddingFailed(Exception):
    """No vectors could be made; the message says why, without the key and the texts."""


class Embedder(Protocol):
    """Converts texts to vectors. The closer two vectors, the closer the meanings."""

    @property
    def name(self) -> str:
        """The name of the source of the vectors. Only vectors with the same name can be compared."""

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return the vectors of these texts, each of length 1. Raises EmbeddingFailed."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The words of a recording. `cost` is in the currency of the price table, or None if there is no price."""

    text: str
    """The words; "" if nothing was said."""
    model: str
    seconds: float
    """The length of the recording as the endpoint counts it, otherwise as the recording itself states it."""
    cost: float | None = None


class TranscriptionFailed(Exception):
    """There is no transcript. The message says why, without the API key and the spoken words."""


class Transcriber(Protocol):
    """Converts speech to text."""

    async def transcribe(self, audio: bytes, name: str, seconds: float) -> Transcript:
        """Return the words of a recording of this length in seconds. `name` must end with the file extension of its
        format. Raises TranscriptionFailed.
        """
