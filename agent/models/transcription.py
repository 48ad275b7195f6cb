"""Speech to text at an OpenAI-compatible endpoint (audio/transcriptions)."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

import httpx2
from openai import APIError, AsyncOpenAI

from agent.models.bounds import bounded_client
from agent.models.connection import CONNECT_TIMEOUT
from agent.models.endpoint import NO_KEY, EndpointSettings
from agent.models.trouble import trouble_of

PATIENCE_S: Final = 60.0
"""Seconds for one recording of a few minutes; hosted models take a few, small machines about as long as it lasts."""
TEXT_LIMIT: Final = 4000
"""Characters of a transcript that are taken: as many as a task may have."""


class TranscriptionFailed(Exception):
    """There is no transcript; the text says why, without the key and without what was said."""


class Transcriber(Protocol):
    """Writes down what somebody says."""

    async def transcribe(self, audio: bytes, name: str) -> str:
        """The words of a recording, "" without any; `name` ends as its format does. Raises TranscriptionFailed."""
        ...


class OpenAITranscriber:
    """Implements Transcriber. Asked once: the person is there and can speak again."""

    def __init__(self, settings: EndpointSettings, *, patience: float = PATIENCE_S) -> None:
        self._settings = settings
        self._patience = patience
        self._client = AsyncOpenAI(
            api_key=settings.key or NO_KEY, base_url=settings.url, max_retries=0, http_client=bounded_client()
        )

    async def transcribe(self, audio: bytes, name: str) -> str:
        """See Transcriber."""
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
            # Cut off: an SDK error in the chain would carry the request with its key along.
            raise TranscriptionFailed(f"{self._settings.host}: {trouble_of(error, self._settings.key)}") from None
        if not isinstance(text, str):
            raise TranscriptionFailed(f"{self._settings.host} answered with something else than a transcript")
        return text.strip()[:TEXT_LIMIT]

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
