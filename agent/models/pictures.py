"""Pictures in requests to models: encoded as data URLs, or left out for models that accept none."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from agent.models.base import Message, Model, ModelRequest
from agent.scene import ImagePart


def data_url(image: ImagePart) -> str:
    """Return the picture's bytes as a base64 data URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


LEFT_OUT: Final = "(A picture belongs here. You are shown none.)"


@runtime_checkable
class _Sighted(Protocol):
    @property
    def takes_pictures(self) -> bool: ...


def takes_pictures(model: Model) -> bool:
    """Whether the model is sent pictures: as configured, otherwise until its endpoint refuses one."""
    return model.takes_pictures if isinstance(model, _Sighted) else True


def has_pictures(request: ModelRequest) -> bool:
    """Whether the request contains a picture."""
    return any(isinstance(part, ImagePart) for message in request.messages for part in message.parts)


def without_pictures(request: ModelRequest) -> ModelRequest:
    """Return the request with text in place of each picture."""
    return replace(request, messages=tuple(map(_in_words, request.messages)))


def _in_words(message: Message) -> Message:
    parts = tuple(LEFT_OUT if isinstance(part, ImagePart) else part for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)
