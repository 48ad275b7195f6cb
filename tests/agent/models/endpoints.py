"""Clients of the fake endpoint, with time that only passes when somebody waits."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from PIL import Image
from pydantic import BaseModel, SecretStr

from agent.models.base import Delta, Message, ModelRequest, Purpose, ToolSpec
from agent.models.connection import RetryPolicy
from agent.models.endpoint import Api, EndpointSettings, Pictures
from agent.models.openai_model import OpenAIModel
from agent.models.pricing import Price
from agent.scene import ImagePart
from devices.geometry import Size
from tests.fakes.model_server import ModelServer

KEY = "test-key-3f9a1c77e2"

TAP = ToolSpec(
    "tap",
    "Tap an element.",
    {
        "type": "object",
        "properties": {"element": {"type": "integer"}},
        "required": ["element"],
        "additionalProperties": False,
    },
)


@dataclass
class VirtualTime:
    """A clock that the waits of a retry policy move forward."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.waits.append(seconds)
        self.now += seconds

    def policy(self, *, chance: float = 0.0) -> RetryPolicy:
        """The default policy on this clock."""
        return RetryPolicy(sleep=self.sleep, clock=lambda: self.now, chance=lambda: chance)


@asynccontextmanager
async def model_at(
    server: ModelServer,
    *,
    model: str = "fake-vl",
    key: str = KEY,
    api: Api = "chat",
    timeout: float = 20.0,
    time: VirtualTime | None = None,
    prices: dict[str, Price] | None = None,
    pictures: Pictures = "auto",
    retry: RetryPolicy | None = None,
) -> AsyncIterator[OpenAIModel]:
    """A model client for this endpoint."""
    settings = EndpointSettings(
        model=model,
        base_url=server.base_url,
        api_key=SecretStr(key),
        api=api,
        timeout=timeout,
        prices=prices or {},
        pictures=pictures,
    )
    client = OpenAIModel(settings, retry=retry or (time or VirtualTime()).policy())
    try:
        yield client
    finally:
        await client.close()


def picture(width: int = 56, height: int = 112, shade: int = 90) -> ImagePart:
    """A small JPEG."""
    stream = io.BytesIO()
    Image.new("RGB", (width, height), (shade, shade, shade)).save(stream, "JPEG")
    return ImagePart(stream.getvalue(), "image/jpeg", Size(width, height))


def asking(
    *parts: str | ImagePart,
    purpose: Purpose = Purpose.ACT,
    tools: tuple[ToolSpec, ...] = (),
    schema: type[BaseModel] | None = None,
    conversation: str = "",
) -> ModelRequest:
    """A request with a system message and one user message."""
    messages = (Message("system", ("You work a phone.",)), Message("user", parts or ("What do you see?",)))
    return ModelRequest(purpose, messages, tools, schema, conversation=conversation)


class Collected:
    """Collects streamed pieces."""

    def __init__(self) -> None:
        self.deltas: list[Delta] = []

    def __call__(self, delta: Delta) -> None:
        self.deltas.append(delta)

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(delta.text for delta in self.deltas)

    @property
    def reasoning(self) -> str:
        """All reasoning so far."""
        return "".join(delta.reasoning for delta in self.deltas)
