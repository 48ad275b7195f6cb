"""Tokens of a call: as the endpoint reports them, in any of the dialects of `usage`, or estimated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field, field_validator

from agent.models.base import Message, ModelReply, ModelRequest, Usage
from agent.models.limits import MAX_TOKENS_REPORTED
from agent.picture import ImagePart

LETTERS_PER_TOKEN = 4
"""Latin text, by the tokenizers in use; a Chinese sign is about one token."""
FIRST_WIDE_SIGN = 0x2E80
"""Where the CJK blocks of Unicode begin."""
PATCH = 28
"""Pixels of a visual token's edge (Qwen2.5-VL; others come out within a factor of two)."""


class ReportedUsage(BaseModel):
    """A `usage` block of chat completions, the Responses API, DeepSeek or Moonshot."""

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
        """A number that cannot be is none: less than nothing would be taken off the task's limit."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return int(value) if 0 <= value <= MAX_TOKENS_REPORTED else None


Reported = Annotated[ReportedUsage | None, BeforeValidator(lambda given: given if isinstance(given, dict) else None)]
"""The block as it came: anything else than an object is none, and no reason to throw the answer away."""


def usage_of(reported: ReportedUsage | None, messages: Iterable[Message], reply: ModelReply) -> Usage:
    """The usage of one call. What the endpoint did not report is estimated, and marked so."""
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
    """What a call has used that was cut off: the endpoint has read it all, and tells those who hang up nothing."""
    return usage_of(None, request.messages, ModelReply("")).booked_on(request.role, model)


def estimated_input(messages: Iterable[Message]) -> int:
    """About how many tokens these messages are, pictures included."""
    return sum(
        _image_tokens(part) if isinstance(part, ImagePart) else text_tokens(part)
        for message in messages
        for part in (*message.parts, *(call.name + call.arguments for call in message.calls))
    )


def _estimated_output(reply: ModelReply) -> int:
    calls = "".join(call.name + call.arguments for call in reply.tool_calls)
    return text_tokens(reply.text + reply.reasoning + calls)


def text_tokens(text: str) -> int:
    """About how many tokens this text is."""
    wide = sum(ord(sign) >= FIRST_WIDE_SIGN for sign in text)
    return wide + math.ceil((len(text) - wide) / LETTERS_PER_TOKEN)


def _image_tokens(image: ImagePart) -> int:
    return math.ceil(image.size.width / PATCH) * math.ceil(image.size.height / PATCH)
