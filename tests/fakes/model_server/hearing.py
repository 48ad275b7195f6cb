"""`audio/transcriptions`: what the endpoint heard, and what it says that was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.web import FileField


@dataclass(frozen=True)
class Heard:
    """One recording that arrived."""

    model: str
    name: str
    audio: bytes = field(repr=False)


@dataclass
class Ear:
    """`says` is the transcript of a recording, or the answer that is sent instead of one.

    `used` is what the endpoint tells of what it used, such as {"type": "duration", "seconds": 3}; None tells nothing.
    """

    key: str = ""
    used: object = None
    says: Callable[[Heard], str | web.Response] = lambda _: ""
    heard: list[Heard] = field(default_factory=list)
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is not set, nothing is answered."""

    def __post_init__(self) -> None:
        self.awake.set()

    async def transcribe(self, request: web.Request) -> web.Response:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            message = "Incorrect API key provided: " + request.headers.get("Authorization", "")
            return web.json_response({"error": {"message": message, "code": "invalid_api_key"}}, status=401)
        form = await request.post()
        file = form["file"]
        assert isinstance(file, FileField)
        with file.file as recording:
            self.heard.append(Heard(str(form["model"]), file.filename, recording.read()))
        await self.awake.wait()
        said = self.says(self.heard[-1])
        if isinstance(said, web.Response):
            return said
        return web.json_response({"text": said} | ({} if self.used is None else {"usage": self.used}))
