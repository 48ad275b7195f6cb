"""Kept pictures and files. Only what is a picture by its first bytes is shown; all else is a download."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.ports.frames import Frames
from bot.domain.right import Right
from bot.texts import say
from bot.web.http import get, refuse
from bot.web.viewers import Viewers

REFERENCE = re.compile(r"[A-Za-z0-9_-]{1,128}(\.[A-Za-z0-9]{1,10})?")
"""A reference of the frame store: no separators, no dots but the one before the suffix."""

HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}
"""A reference names its bytes for ever; what came from a phone or a model never runs as a page."""


def picture_type(data: bytes) -> str:
    """The media type of a picture that browsers show, "" for anything else."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


class Pictures:
    """Serves the frame store, to each what they were shown."""

    def __init__(self, frames: Frames, viewers: Viewers) -> None:
        self._frames = frames
        self._viewers = viewers

    def routes(self) -> list[Route]:
        """What is served."""
        return [get("/api/frames/{reference}", self.frame, Right.USE)]

    async def frame(self, request: Request) -> Response:
        """The bytes behind a reference."""
        reference = request.path_params["reference"]
        gone = say("refusal.picture")
        if not REFERENCE.fullmatch(reference) or not await self._viewers.of(request).has(reference):
            return refuse(404, gone)
        try:
            data = await self._frames.load(reference)
        except KeyError:
            return refuse(404, gone)
        media = picture_type(data)
        headers = HEADERS if media else HEADERS | {"Content-Disposition": "attachment"}
        return Response(data, headers=headers, media_type=media or "application/octet-stream")
