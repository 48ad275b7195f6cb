"""An Embedder for OpenAI-compatible endpoints."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Final

import httpx2
from openai import APIError, AsyncOpenAI

from agent.models.call_failure import CallFailure, call_failure_of
from agent.models.cause import Cause
from agent.models.connection import CONNECT_TIMEOUT, bounded_client
from agent.models.embedding import EmbeddingFailed, Vector
from agent.models.endpoint import NO_KEY, EndpointSettings

PATIENCE_S: Final = 3.0
"""Seconds that one call may take. Searching by words alone finds most facts, so a longer wait is not worthwhile."""
MAX_PARTS: Final = 8192
"""The maximum length of a vector; the longest of known models is 4,096."""


class OpenAIEmbedder:
    """Implements Embedder with an OpenAI-compatible endpoint. It does not retry, because memory can also be searched by
    words.
    """

    def __init__(self, settings: EndpointSettings, *, patience: float = PATIENCE_S) -> None:
        self._settings = settings
        self._patience = patience
        self._client = AsyncOpenAI(
            api_key=settings.key or NO_KEY, base_url=settings.url, max_retries=0, http_client=bounded_client()
        )

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
