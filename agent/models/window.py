"""Determines a model's context window: as configured, otherwise from its endpoint's list of models or from the refusal
of a request that was too long, otherwise a default that every current model supports.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Final

from agent.models.base import ModelRequest
from agent.models.call_failure import CallFailure
from agent.models.connection import Connection
from agent.models.endpoint import EndpointSettings
from agent.models.tokens import estimated_input

logger = logging.getLogger(__name__)

PATH: Final = "/models"
DEFAULT_WINDOW: Final = 32_768
"""The default window in tokens: the smallest with which current vision models are served."""
FEW: Final = 4_915
"""With fewer tokens than this (60 % of 8,192) in a request, the endpoint is not asked, because acting models have
larger windows.
"""
LEAST_WINDOW: Final = 1_024
MOST_WINDOW: Final = 100_000_000
"""Numbers outside these two limits are not context windows."""

_NAMES: Final = (
    "context_length",  # OpenRouter, Together, Fireworks, Moonshot
    "max_model_len",  # vLLM, SGLang
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "loaded_context_length",  # LM Studio: what it was loaded with
    "max_input_tokens",  # Anthropic, LiteLLM
    "inputTokenLimit",  # Gemini
    "n_ctx",  # llama.cpp, below `meta`
    "n_ctx_train",
)
_BELOW: Final = ("meta", "top_provider", "limits")
_SAID = re.compile(
    r"(?:context (?:length|size|window)|maximum|\bmax\b|limit|<=|>|\[1,)[^\d]{0,60}?(\d[\d,]{2,})", re.IGNORECASE
)
"""The number in a refusal such as "maximum context length is 8192 tokens" or "210000 tokens > 200000 maximum"."""


class ContextWindow:
    """The context window of one model. The endpoint is asked for it once, when it is first needed."""

    def __init__(self, settings: EndpointSettings, connection: Connection) -> None:
        self._settings = settings
        self._connection = connection
        self._reported: int | None = None
        self._refused: int | None = None
        self._asked = False

    async def tokens(self, sent: int = MOST_WINDOW) -> int:
        """Return the window in tokens, including the answer. Never raises an error of the endpoint.

        `sent` is how many tokens the last request had; up to `FEW`, the endpoint is not asked.
        """
        if self._settings.context is None and not self._asked and sent > FEW:
            self._asked = True
            self._reported = window_in(await self._connection.get(PATH), self._settings.model)
            logger.info("%s tells a window of %s tokens", self._settings.model, self._reported)
        known = self._settings.context or self._reported or DEFAULT_WINDOW
        return known if self._refused is None else min(known, self._refused)

    def learn_from_refusal(self, request: ModelRequest, failure: CallFailure) -> None:
        """Learn from the refusal of a request that was too long: it names the window, or shows that it is smaller than
        the request.
        """
        said = [int(number.replace(",", "")) for number in _SAID.findall(failure.reason)]
        least = next((number for number in said if LEAST_WINDOW <= number <= MOST_WINDOW), None)
        learned = least or max(LEAST_WINDOW, estimated_input(request.messages))
        self._refused = learned if self._refused is None else min(learned, self._refused)


def window_in(models: object, name: str) -> int | None:
    """Return the context window of a model in an endpoint's list of models; None if the list does not have it. If the
    list has only one model, that is meant, whatever its name.

    Of several numbers, the smallest counts: what a model was loaded with, not its theoretical maximum.
    """
    rows = [row for row in _rows(models) if isinstance(row, Mapping)]
    named = [row for row in rows if str(row.get("id", row.get("name", ""))).removeprefix("models/") == name]
    found = named or (rows if len(rows) == 1 else [])
    return min((number for row in found for number in _numbers(row)), default=None)


def _rows(models: object) -> list[object]:
    if isinstance(models, Mapping):
        models = models.get("data", models.get("models"))
    return list(models) if isinstance(models, list) else []


def _numbers(row: Mapping[str, object]) -> Iterator[int]:
    for each in (row, *(row.get(name) for name in _BELOW)):
        if isinstance(each, Mapping):
            for name in _NAMES:
                value = each.get(name)
                if isinstance(value, int) and not isinstance(value, bool) and LEAST_WINDOW <= value <= MOST_WINDOW:
                    yield value
