"""Learns which optional parameters and forms of answers an endpoint refuses, and leaves them out from then on."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from openai import pydantic_function_tool
from pydantic import BaseModel

from agent.models.base import ModelRequest
from agent.models.call_failure import CallFailure

logger = logging.getLogger(__name__)


ABOUT_FORMATS = re.compile(
    r"response_format|text\.format|json[_ ]schema|json[_ ]object|json mode|structured output|guided", re.IGNORECASE
)


class AnswerFormat(Enum):
    """A way of telling an endpoint that the answer must have a given JSON form."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"

    @property
    def simpler(self) -> AnswerFormat:
        """The next format to try if this one is refused."""
        return AnswerFormat.JSON_OBJECT if self is AnswerFormat.JSON_SCHEMA else AnswerFormat.TEXT

    def is_refused_by(self, words: str) -> bool:
        """Whether an endpoint's error message says that it does not support this format."""
        return self is not AnswerFormat.TEXT and ABOUT_FORMATS.search(words) is not None


def strict_schema(form: type[BaseModel]) -> object:
    """Return the model's JSON schema in the form of strict mode: every field is required, and no others are allowed."""
    return pydantic_function_tool(form)["function"]["parameters"]


def is_strict(schema: object) -> bool:
    """Whether a JSON schema follows the rules of strict mode, so that it may be sent as a strict one."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            names = set(schema.get("properties", {}))
            if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names:
                return False
        return all(is_strict(part) for part in schema.values())
    return all(is_strict(part) for part in schema) if isinstance(schema, list) else True


T = TypeVar("T")

OPTIONAL = ("stream_options", "prompt_cache_key", "strict", "temperature", "max_tokens", "max_completion_tokens")
"""Parameters that some endpoints refuse and that an answer does not depend on."""
EFFORT = "reasoning_effort"
"""The chat completions parameter for how much a model thinks before it answers."""
DEEP_EFFORT = "high"
"""The highest effort accepted by every model that has the parameter (OpenAI's reference of both APIs)."""
NO_EFFORT = re.compile(r"\breasoning(?:[_.]effort)?\b")
"""The Responses API calls it `reasoning.effort`; an endpoint that does not know it names all or part of that."""
NO_STREAM = re.compile(r"\bstream(?:ing)?\b[^.]{0,40}\b(?:not|un)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EndpointQuirks:
    """How requests to an endpoint are made: which parameters are left out, and how the form of an answer is
    requested.
    """

    dropped: frozenset[str] = frozenset()
    answer_format: AnswerFormat = AnswerFormat.JSON_SCHEMA

    def sends(self, name: str) -> bool:
        """Whether this parameter is part of requests."""
        return name not in self.dropped

    def after(self, failure: CallFailure, request: ModelRequest) -> EndpointQuirks:
        """Return the habits with what this refusal teaches; unchanged if it is not about something that can be left
        out.
        """
        if failure.status not in {400, 404, 415, 422, 501}:
            return self
        words = f"{failure.param} {failure.code} {failure.reason}"
        if request.schema is not None and self.answer_format.is_refused_by(words):
            return replace(self, answer_format=self.answer_format.simpler)
        for name in OPTIONAL:
            if self.sends(name) and re.search(rf"\b{name}\b", words):
                return replace(self, dropped=self.dropped | {name})
        if request.deep and self.sends(EFFORT) and NO_EFFORT.search(words):
            return replace(self, dropped=self.dropped | {EFFORT})
        if self.sends("stream") and (failure.param == "stream" or NO_STREAM.search(failure.reason)):
            return replace(self, dropped=self.dropped | {"stream", "stream_options"})
        return self


class QuirkRecovery:
    """Sends requests in the form that the endpoint accepts. A parameter that it refused once is never sent again."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._quirks = EndpointQuirks()

    async def send(
        self, request: ModelRequest, attempt: Callable[[EndpointQuirks], Awaitable[T | CallFailure]]
    ) -> T | CallFailure:
        """Send a request, and repeat it without refused parameters until it succeeds or fails for another reason.

        `attempt` sends it once. Returns its result, or the failure.
        """
        while True:
            habits = self._quirks
            outcome = await attempt(habits)
            if not isinstance(outcome, CallFailure):
                return outcome
            better = habits.after(outcome, request)
            if better == habits:
                return outcome
            if self._quirks == habits:  # otherwise a concurrent call has learned something: try with that first
                logger.info("%s refuses something (%s); it gets %s from now on", self._host, outcome.reason, better)
                self._quirks = better
