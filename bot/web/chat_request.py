"""Models of the parts of an OpenAI chat request that are used, and their conversion to tasks."""

from __future__ import annotations

import base64
import binascii
from functools import cached_property
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agent.ports.agent import Guidance
from agent.task_results import JsonSchema
from bot.application.access import Refused
from bot.domain.incoming import Attachment
from bot.domain.task_request import TaskOptions
from bot.tasks.files import MAX_FILE_BYTES
from bot.tasks.input import without_controls
from bot.texts import say
from bot.web.v1.models import Schema

MODEL: Final = "opengui"
"""Model name for any phone; `opengui/NAME` is the phone with that name."""
MOST_MESSAGES: Final = 2000
PICTURES: Final = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}


class ImageUrl(BaseModel):
    """The address of a picture; only `data:` addresses, which contain the picture, are accepted."""

    url: str = Field(repr=False)


class Part(BaseModel):
    """One part of a message: text or a picture. Parts of other types are ignored."""

    type: str
    text: str = ""
    image_url: ImageUrl | None = None


class ChatMessage(BaseModel):
    """A message of the conversation, as the front end sent it."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """The text of the message, as a task stores it."""
        if isinstance(self.content, str):
            return without_controls(self.content)
        return without_controls("\n".join(part.text for part in self.content or () if part.type == "text"))


class StreamOptions(BaseModel):
    """Says what a stream contains in addition to the answer."""

    include_usage: bool = False


class NamedSchema(BaseModel):
    """A JSON Schema in the wrapper that OpenAI uses."""

    document: Schema = Field(alias="schema")


class ResponseFormat(BaseModel):
    """The form in which the answer is wanted: text, JSON, or JSON that fits a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: NamedSchema | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.type == "json_schema" and self.json_schema is None:
            raise ValueError("json_schema is missing")
        return self

    @cached_property
    def result_schema(self) -> JsonSchema | None:
        """The JSON schema for the result of the task; None if the answer is text."""
        if self.type == "text":
            return None
        named = self.json_schema if self.type == "json_schema" else None
        return JsonSchema(document={"type": "object"} if named is None else named.document)


class ChatRequest(TaskOptions):
    """The fields of an OpenAI chat request that are used, with the options of the task. All others are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(default=MODEL, max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    """Number of answers; only one is possible, because a task runs once."""
    response_format: ResponseFormat | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)

    @property
    def guidance(self) -> Guidance:
        """The request's preferences for answers that need no phone, such as the temperature."""
        return Guidance(temperature=self.temperature, max_tokens=self.max_completion_tokens or self.max_tokens)

    @property
    def result_schema(self) -> JsonSchema | None:
        """The JSON schema for the result of the task; None if the answer is text."""
        return None if self.response_format is None else self.response_format.result_schema


def pictures_of(message: ChatMessage) -> tuple[Attachment, ...]:
    """Return the pictures in a message as files of the task. Raises Refused for a web address, because it is not
    downloaded, and for a picture that is too large, broken, or of an unknown type.
    """
    found: list[Attachment] = []
    for part in message.content if isinstance(message.content, list) else ():
        if part.type != "image_url" or part.image_url is None:
            continue
        head, _, data = part.image_url.url.partition(";base64,")
        ending = PICTURES.get(head.removeprefix("data:"))
        try:
            content = base64.b64decode(data, validate=True) if ending and head.startswith("data:") else b""
        except binascii.Error:
            content = b""
        if not content or len(content) > MAX_FILE_BYTES:
            raise Refused(say("programs.bad_picture"))
        found.append(Attachment(f"picture{len(found) + 1}.{ending}", content))
    return tuple(found)
