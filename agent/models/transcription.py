"""The interface of speech to text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Transcript:
    """The words of a recording. `cost` is in the currency of the prices, or None if there is no price."""

    text: str
    """The words; "" if nothing was said."""
    model: str
    seconds: float
    """The length as the endpoint counts it, otherwise as given by the recording."""
    cost: float | None = None


class TranscriptionFailed(Exception):
    """There is no transcript; the message says why, without the key and what was said."""


class Transcriber(Protocol):
    """Converts speech to text."""

    async def transcribe(self, audio: bytes, name: str, seconds: float) -> Transcript:
        """Return the words of a recording of this length in seconds. `name` must end with the file extension of its
        format. Raises TranscriptionFailed.
        """
        ...
