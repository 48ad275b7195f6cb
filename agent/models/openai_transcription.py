"""Speech to text with an OpenAI-compatible endpoint (audio/transcriptions)."""

from __future__ import annotations

import asyncio
import math
from typing import Final

import httpx2
from openai import APIError, AsyncOpenAI

from agent.models.base import Usage
from agent.models.call_failure import call_failure_of
from agent.models.connection import CONNECT_TIMEOUT, bounded_client
from agent.models.endpoint import NO_KEY, EndpointSettings
from agent.models.transcription import Transcript, TranscriptionFailed

PATIENCE_S: Final = 60.0
"""Seconds that one call may take, for a recording of a few minutes: hosted models need a few seconds, small machines as
long as the recording.
"""
TEXT_LIMIT: Final = 4000
"""The maximum characters kept of a transcript, the same as for a task."""


class OpenAITranscriber:
    """Implements Transcriber with an OpenAI-compatible endpoint. It does not retry, because the person can speak again.

    `minute` is the price of a minute. Without it, the cost is calculated from the tokens that the endpoint reports and
    `settings.prices`.
    """

    def __init__(
        self, settings: EndpointSettings, *, minute: float | None = None, patience: float = PATIENCE_S
    ) -> None:
        self._settings = settings
        self._minute = minute
        self._patience = patience
        self._client = AsyncOpenAI(
            api_key=settings.key or NO_KEY, base_url=settings.url, max_retries=0, http_client=bounded_client()
        )

    async def transcribe(self, audio: bytes, name: str, seconds: float) -> Transcript:
        """Return the words of a recording of this length in seconds. `name` must have the file extension of its format.
        Raises TranscriptionFailed. Implements `Transcriber.transcribe`.
        """
        timeout = httpx2.Timeout(self._patience, connect=CONNECT_TIMEOUT)
        try:
            async with asyncio.timeout(self._patience):
                heard = await self._client.audio.transcriptions.create(
                    model=self._settings.model, file=(name, audio), response_format="json", timeout=timeout
                )
            text: object = getattr(heard, "text", None)  # an endpoint may answer with anything
        except TimeoutError:
            raise TranscriptionFailed(f"{self._settings.host} did not answer in time") from None
        except (APIError, httpx2.HTTPError, ValueError, RecursionError) as error:
            # Unchained: an SDK error in the exception chain would contain the request with its key.
            failure = call_failure_of(error, self._settings.key)
            why = failure.reason or failure.status or failure.cause
            raise TranscriptionFailed(f"{self._settings.host}: {why}") from None
        if not isinstance(text, str):
            raise TranscriptionFailed(f"{self._settings.host} answered with something else than a transcript")
        told: object = getattr(heard, "usage", None)
        lasted = _number(told, "seconds")
        seconds = seconds if lasted is None else lasted
        return Transcript(text.strip()[:TEXT_LIMIT], self._settings.model, seconds, self._cost(told, seconds))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _cost(self, told: object, seconds: float) -> float | None:
        if self._minute is not None:
            return self._minute * seconds / 60.0
        price = self._settings.prices.get(self._settings.model)
        read, written = _number(told, "input_tokens"), _number(told, "output_tokens")
        if price is None or read is None or written is None:
            return None
        return price.cost(Usage(input=int(read), output=int(written)))


def _number(told: object, name: str) -> float | None:
    """Return a reported usage figure as a number; None if it is not one, as an endpoint may send anything."""
    value: object = getattr(told, name, None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None
