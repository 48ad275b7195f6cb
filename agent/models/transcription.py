"""The interface for converting speech to text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


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
        ...
