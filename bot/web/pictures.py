"""Serves stored pictures and files, and pictures that summarise tasks and are drawn on request.

Only data whose first bytes are those of a picture is shown; everything else is offered as a download.
"""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.application.services import Services
from bot.cards.final import last_screens
from bot.cards.picture import make_recap
from bot.cards.question import question_picture
from bot.domain.outgoing import Picture
from bot.domain.right import Right
from bot.domain.task import Task
from bot.texts import say
from bot.web.http import get, refuse
from bot.web.viewers import Viewers

REFERENCE = re.compile(r"[A-Za-z0-9_-]{1,128}(\.[A-Za-z0-9]{1,10})?")
"""A reference of the frame store: no separators, and no dots except before the suffix."""

HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}
"""A reference always means the same bytes; data from a phone or model never runs as a page."""


def picture_type(data: bytes) -> str:
    """Return the media type of a picture that browsers can show, "" for anything else."""
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
    """Handles requests for stored pictures and files. Each person gets only those that were shown to them."""

    def __init__(self, services: Services, viewers: Viewers) -> None:
        self._services = services
        self._frames = services.frames
        self._viewers = viewers

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            get("/api/frames/{reference}", self.frame, Right.USE),
            get("/api/console/tasks/{task}/recap.gif", self.recap, Right.USE),
            get("/api/console/tasks/{task}/screens.jpg", self.screens, Right.USE),
            get("/api/console/questions/{question}/screens.jpg", self.asked, Right.USE),
        ]

    async def frame(self, request: Request) -> Response:
        """Return the bytes of the stored picture or file with this reference."""
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

    async def recap(self, request: Request) -> Response:
        """Return the steps of a finished task as an animated picture."""
        task = await self._task(request, request.path_params["task"])
        if task is None or task.outcome is None:
            return refuse(404, say("refusal.picture"))
        # One phone after the other instead of interleaved.
        steps = sorted(await self._services.task_service.steps(task.id), key=lambda step: int(step.part or 0))
        return _drawn(await make_recap(steps, self._frames))

    async def screens(self, request: Request) -> Response:
        """Return the last screens of the phones that worked on a task, side by side."""
        task = await self._task(request, request.path_params["task"])
        if task is None or task.outcome is None:
            return refuse(404, say("refusal.picture"))
        return _drawn(await last_screens(task, await self._services.task_service.parts(task.id), self._frames))

    async def asked(self, request: Request) -> Response:
        """Return the screenshot that a question is about. If the question is asked a second time, it is shown beside
        the screenshot that was allowed before.
        """
        found = await self._services.task_service.question(request.path_params["question"])
        if found is None or await self._task(request, found.task) is None:
            return refuse(404, say("refusal.picture"))
        return _drawn(await question_picture(found.question, self._frames))

    async def _task(self, request: Request, number: str) -> Task | None:
        task = await self._services.task_service.get(number)
        return task if task is not None and self._viewers.of(request).sees(task) else None


def _drawn(picture: Picture | None) -> Response:
    if picture is None:
        return refuse(404, say("refusal.picture"))
    headers = HEADERS | {"Cache-Control": "private, max-age=600"}
    return Response(picture.data, headers=headers, media_type=picture_type(picture.data))
