"""A request as it arrived, with its pictures decoded."""

from __future__ import annotations

import asyncio
import base64
import io
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from PIL import Image

from devices.geometry import Size


@dataclass(frozen=True)
class SentImage:
    """A picture that the client sent."""

    data: bytes = field(repr=False)
    media_type: str

    @cached_property
    def size(self) -> Size:
        """Its size in pixels, read from the picture itself."""
        with Image.open(io.BytesIO(self.data)) as image:
            return Size(*image.size)


@dataclass
class Recorded:
    """One request to the fake endpoint."""

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: dict[str, Any]
    status: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set when the client closed the connection before the answer was complete."""
    arrived: float = field(default_factory=time.monotonic, repr=False)
    """When it had been read to its end, on the monotonic clock."""
    answered: float | None = field(default=None, repr=False)
    """When the whole answer had been sent."""

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages (chat) or input items (Responses) of this request alone."""
        items = self.body.get("messages", self.body.get("input", []))
        return [{"role": "user", "content": items}] if isinstance(items, str) else list(items)

    @cached_property
    def text(self) -> str:
        """All text of the messages, one part a line."""
        return "\n".join(part for message in self.messages for part in parts_of(message) if isinstance(part, str))

    @cached_property
    def images(self) -> tuple[SentImage, ...]:
        """All pictures of the messages, in order."""
        return tuple(part for message in self.messages for part in parts_of(message) if isinstance(part, SentImage))

    def as_json(self) -> dict[str, Any]:
        """What a test in another process may want to look at."""
        images = [[image.size.width, image.size.height] for image in self.images]
        return {"path": self.path, "status": self.status, "model": self.model, "text": self.text, "images": images}


def parts_of(message: dict[str, Any]) -> Iterator[str | SentImage]:
    """Text and pictures of a chat message or a Responses input item."""
    if message.get("type") == "function_call":
        yield f"{message['name']}({message['arguments']})"
    if message.get("type") == "function_call_output":
        yield str(message["output"])
    for call in message.get("tool_calls") or ():
        yield f"{call['function']['name']}({call['function']['arguments']})"
    content = message.get("content")
    if isinstance(content, str):
        yield content
        return
    for part in content or ():
        if "text" in part:
            yield str(part["text"])
        elif "image_url" in part:
            link = part["image_url"]
            yield _image(link["url"] if isinstance(link, dict) else link)


def _image(url: str) -> SentImage:
    head, _, data = url.partition(",")
    return SentImage(base64.b64decode(data), head.removeprefix("data:").removesuffix(";base64"))
