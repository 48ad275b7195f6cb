"""Counts the tokens of a call: as the endpoint reports them, in any of the common forms, or estimated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field, field_validator

from agent.models.base import Message, ModelReply, ModelRequest, Usage
from agent.models.endpoint import MAX_TOKENS_REPORTED
from agent.scene import ImagePart

LETTERS_PER_TOKEN = 4
"""Characters of Latin text per token with common tokenizers. A Chinese character is about one token."""
FIRST_WIDE_SIGN = 0x2E80
"""The first code point of Unicode's CJK blocks."""
PATCH = 28
"""The side in pixels of the part of a picture that one token stands for (Qwen2.5-VL; others are within a factor of
two).
"""


class ReportedUsage(BaseModel):
    """A `usage` block as chat completions, the Responses API, DeepSeek or Moonshot report it."""

    input: int | None = Field(default=None, validation_alias=AliasChoices("prompt_tokens", "input_tokens"))
    output: int | None = Field(default=None, validation_alias=AliasChoices("completion_tokens", "output_tokens"))
    cached: int | None = Field(
        default=None,
        validation_alias=AliasChoices(
            AliasPath("prompt_tokens_details", "cached_tokens"),
            AliasPath("input_tokens_details", "cached_tokens"),
            "prompt_cache_hit_tokens",
            "cached_tokens",
        ),
    )
    reasoning: int | None = Field(
        default=None,
        validation_alias=AliasChoices(
            AliasPath("completion_tokens_details", "reasoning_tokens"),
            AliasPath("output_tokens_details", "reasoning_tokens"),
        ),
    )

    @field_validator("*", mode="before")
    @classmethod
    def _possible(cls, value: object) -> int | None:
        """Ignore impossible numbers: a negative one would reduce what counts against the task's limit."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return int(value) if 0 <= value <= MAX_TOKENS_REPORTED else None


Reported = Annotated[ReportedUsage | None, BeforeValidator(lambda given: given if isinstance(given, dict) else None)]
"""A usage block in an answer. Anything other than an object is read as None, so that the answer is not lost."""


def usage_of(reported: ReportedUsage | None, messages: Iterable[Message], reply: ModelReply) -> Usage:
    """Return the usage of one call. Numbers that the endpoint did not report are estimated."""
    given = reported or ReportedUsage()
    tokens_in = estimated_input(messages) if given.input is None else given.input
    tokens_out = _estimated_output(reply) if given.output is None else given.output
    return Usage(
        input=tokens_in,
        output=tokens_out,
        cached=min(given.cached or 0, tokens_in),
        reasoning=min(given.reasoning or 0, tokens_out),
        calls=1,
        estimated=given.input is None or given.output is None,
    )


def hung_up(request: ModelRequest, model: str) -> Usage:
    """Return the estimated usage of a call that was cut off: the endpoint has read the whole request but reports
    nothing.
    """
    return usage_of(None, request.messages, ModelReply("")).booked_on(request.role, model)


def estimated_input(messages: Iterable[Message]) -> int:
    """Estimate how many tokens these messages have, including pictures."""
    return sum(
        _image_tokens(part) if isinstance(part, ImagePart) else text_tokens(part)
        for message in messages
        for part in (*message.parts, *(call.name + call.arguments for call in message.calls))
    )


def _estimated_output(reply: ModelReply) -> int:
    calls = "".join(call.name + call.arguments for call in reply.tool_calls)
    return text_tokens(reply.text + reply.reasoning + calls)


def text_tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    wide = sum(ord(sign) >= FIRST_WIDE_SIGN for sign in text)
    return wide + math.ceil((len(text) - wide) / LETTERS_PER_TOKEN)


def _image_tokens(image: ImagePart) -> int:
    return math.ceil(image.size.width / PATCH) * math.ceil(image.size.height / PATCH)
