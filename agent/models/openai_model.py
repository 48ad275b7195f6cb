"""A model at an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from agent.models.base import Delta, ModelReply, ModelRequest
from agent.models.connection import Connection, RetryPolicy
from agent.models.endpoint import EndpointSettings
from agent.models.routes import Router
from agent.models.sentences import error_of, settings_problem, too_slow
from agent.models.trouble import Trouble

logger = logging.getLogger(__name__)


class OpenAIModel:
    """Implements Model. Close it when it is not needed any more."""

    def __init__(self, settings: EndpointSettings, *, retry: RetryPolicy | None = None) -> None:
        self._settings = settings
        self._connection = Connection(settings, retry or RetryPolicy())
        self._router = Router(settings, self._connection)

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it."""
        return self._settings.model

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Answer the request; see Model. An answer that is begun again after a break is not streamed a second time."""
        if problem := settings_problem(self._settings):
            raise problem
        limit = self._settings.limit(request.purpose)
        try:
            async with asyncio.timeout(limit):
                outcome = await self._router.complete(request, on_delta)
        except TimeoutError:
            raise too_slow(self._settings, limit) from None
        if isinstance(outcome, Trouble):
            raise error_of(outcome, self._settings, request)
        logger.debug("%s for %s: %s", outcome.model, request.purpose, outcome.usage)
        return outcome

    async def close(self) -> None:
        """Delete what the endpoint keeps of open conversations, and close the connections."""
        await self._router.close()
        await self._connection.close()
