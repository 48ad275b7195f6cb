"""Speech to text, as whoever needs it sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in so many seconds. `cost` is in the currency of the prices, None where there is no price."""

    text: str
    """"" when nothing was said."""
    model: str
    seconds: float
    """As the endpoint counts them, else as long as the recording says it is."""
    cost: float | None = None


class TranscriptionFailed(Exception):
    """There is no transcript; the text says why, without the key and without what was said."""


class Transcriber(Protocol):
    """Writes down what somebody says."""

    async def transcribe(self, audio: bytes, name: str, seconds: float) -> Transcript:
        """The words of a recording that lasts so long; `name` ends as its format does. Raises TranscriptionFailed."""
        ...
