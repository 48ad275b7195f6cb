"""Embeddings and speech to text with OpenAI-compatible endpoints."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Final

import httpx2
from openai import APIError

from agent.models.base import Usage
from agent.models.call_failure import CallFailure, call_failure_of
from agent.models.connection import CONNECT_TIMEOUT, client_of
from agent.models.endpoint import EndpointSettings
from agent.models.other_models import EmbeddingFailed, Transcript, TranscriptionFailed, Vector
from agent.models.state import Cause

EMBEDDING_PATIENCE_S: Final = 3.0
"""Seconds that one call may take. Searching by words alone finds most facts, so a longer wait is not worthwhile."""
MAX_PARTS: Final = 8192
"""The maximum length of a vector; the longest of known models is 4,096."""


class OpenAIEmbedder:
    """Implements Embedder with an OpenAI-compatible endpoint. It does not retry, because memory can also be searched by
    words.
    """

    def __init__(self, settings: EndpointSettings, *, patience: float = EMBEDDING_PATIENCE_S) -> None:
        self._settings = settings
        self._patience = patience
        self._client = client_of(settings)

    @property
    def name(self) -> str:
        """The endpoint's host and the model's name. Only vectors with the same name can be compared. Implements
        `Embedder.name`.
        """
        return f"{self._settings.host}/{self._settings.model}"

    async def embed(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return the vectors of these texts, each of length 1. Raises EmbeddingFailed. Implements `Embedder.embed`."""
        timeout = httpx2.Timeout(self._patience, connect=CONNECT_TIMEOUT)
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._client.embeddings.create(
                    model=self._settings.model, input=list(texts), encoding_format="float", timeout=timeout
                )
            rows: Any = [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
        except TimeoutError:
            raise EmbeddingFailed(f"{self._settings.host} did not answer in time") from None
        except (APIError, httpx2.HTTPError) as error:
            # Unchained: an SDK error in the exception chain would contain the request with its key.
            raise EmbeddingFailed(self._failed(call_failure_of(error, self._settings.key))) from None
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise EmbeddingFailed(f"{self._settings.host} answered with something else than vectors") from None
        vectors = tuple(map(_unit, rows))
        if len(vectors) != len(texts) or not all(vectors) or len(set(map(len, vectors))) > 1:
            raise EmbeddingFailed(f"{self._settings.host} answered with something else than vectors")
        return vectors

    def _failed(self, failure: CallFailure) -> str:
        host = self._settings.host
        match failure.cause:
            case Cause.NO_CONNECTION:
                return f"{host} cannot be reached"
            case Cause.NO_ANSWER:
                return f"{host} did not answer in time"
            case _ if failure.status:
                return f"{host}: {failure.reason or failure.status}"
        return f"{host} answered with something else than vectors"

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


def _unit(row: object) -> Vector:
    """Return the vector scaled to length 1; () if it is not a vector, as an endpoint may send anything."""
    if not isinstance(row, list) or not 0 < len(row) <= MAX_PARTS:
        return ()
    if not all(isinstance(part, int | float) and math.isfinite(part) for part in row):
        return ()
    length = math.sqrt(math.fsum(part * part for part in row))
    return tuple(part / length for part in row) if length else ()


TRANSCRIPTION_PATIENCE_S: Final = 60.0
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
        self, settings: EndpointSettings, *, minute: float | None = None, patience: float = TRANSCRIPTION_PATIENCE_S
    ) -> None:
        self._settings = settings
        self._minute = minute
        self._patience = patience
        self._client = client_of(settings)

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
