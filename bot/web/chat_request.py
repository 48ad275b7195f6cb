"""A request in OpenAI's form of a chat: what is read of it, with its words and pictures as a task has them."""

from __future__ import annotations

import base64
import binascii
from functools import cached_property
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agent.ports.agent import Guidance
from agent.result_schema import JsonSchema
from bot.application.access import Refused
from bot.domain.incoming import Attachment
from bot.domain.task_request import TaskOptions
from bot.tasks.files import MAX_FILE_BYTES
from bot.tasks.input import without_controls
from bot.texts import say
from bot.web.v1.models.tasks import Schema

MODEL: Final = "opengui"
"""Any phone; `opengui/NAME` is the phone of that name."""
MOST_MESSAGES: Final = 2000
PICTURES: Final = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}


class ImageUrl(BaseModel):
    """Where a picture is."""

    url: str = Field(repr=False)


class Part(BaseModel):
    """A part of a message; of other types nothing is read."""

    type: str
    text: str = ""
    image_url: ImageUrl | None = None


class ChatMessage(BaseModel):
    """A message of the conversation, as the front end has it."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its words, as a task keeps them."""
        if isinstance(self.content, str):
            return without_controls(self.content)
        return without_controls("\n".join(part.text for part in self.content or () if part.type == "text"))


class StreamOptions(BaseModel):
    """What a stream has beside the answer."""

    include_usage: bool = False


class NamedSchema(BaseModel):
    """A JSON Schema, as OpenAI's form wraps it."""

    document: Schema = Field(alias="schema")


class ResponseFormat(BaseModel):
    """The form that the answer is to have."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: NamedSchema | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.type == "json_schema" and self.json_schema is None:
            raise ValueError("json_schema is missing")
        return self

    @cached_property
    def result_schema(self) -> JsonSchema | None:
        """The schema that the result of the task is to fit; None for words."""
        if self.type == "text":
            return None
        named = self.json_schema if self.type == "json_schema" else None
        return JsonSchema(document={"type": "object"} if named is None else named.document)


class ChatRequest(TaskOptions):
    """What is read of a request, with how the task is to be done; all else that OpenAI knows means nothing here."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(default=MODEL, max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    """How many answers are wanted; a task is done once."""
    response_format: ResponseFormat | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)

    @property
    def guidance(self) -> Guidance:
        """How answers without a phone are to be worded."""
        return Guidance(temperature=self.temperature, max_tokens=self.max_completion_tokens or self.max_tokens)

    @property
    def result_schema(self) -> JsonSchema | None:
        """The schema that the result of the task is to fit; None for words."""
        return None if self.response_format is None else self.response_format.result_schema

    def options(self) -> TaskOptions:
        """How the task is to be done."""
        return TaskOptions(**self.model_dump(include=set(TaskOptions.model_fields)))


def pictures_of(message: ChatMessage) -> tuple[Attachment, ...]:
    """The pictures in a message, as files of the task. Raises Refused for one that is elsewhere: nothing is fetched."""
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
