"""Serves pictures: stored ones and files, those that summarise tasks and are drawn on request, and small ones of idle
phones.

Only data whose first bytes are those of a picture is shown; everything else is offered as a download.

A picture is taken only when a page asks: at most one per phone in GLANCE_EVERY seconds, however many pages are open.
None is taken of a phone that a task uses, because the task stores pictures anyway.
"""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PIL import Image
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.application.services import Services
from bot.cards.final import last_screens
from bot.cards.picture import make_recap
from bot.cards.question import question_picture
from bot.domain.outgoing import Picture
from bot.domain.right import Right
from bot.domain.task import Task
from bot.tasks.input import health_words
from bot.texts import say
from bot.web.http import RequestRefused, get, refuse
from bot.web.viewers import Viewers
from bot.web.views import HOLDS
from devices.errors import PhoneError
from devices.names import readable
from devices.phone import Health, PhoneInfo

logger = logging.getLogger(__name__)


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
        if not REFERENCE.fullmatch(reference) or not await self._viewers.of(request).has(reference):
            raise _gone()
        try:
            data = await self._frames.load(reference)
        except KeyError:
            raise _gone() from None
        media = picture_type(data)
        headers = HEADERS if media else HEADERS | {"Content-Disposition": "attachment"}
        return Response(data, headers=headers, media_type=media or "application/octet-stream")

    async def recap(self, request: Request) -> Response:
        """Return the steps of a finished task as an animated picture."""
        task = await self._ended(request)
        # One phone after the other instead of interleaved.
        steps = sorted(await self._services.task_service.steps(task.id), key=lambda step: int(step.part or 0))
        return _drawn(await make_recap(steps, self._frames))

    async def screens(self, request: Request) -> Response:
        """Return the last screens of the phones that worked on a task, side by side."""
        task = await self._ended(request)
        return _drawn(await last_screens(task, await self._services.task_service.parts(task.id), self._frames))

    async def asked(self, request: Request) -> Response:
        """Return the screenshot that a question is about. If the question is asked a second time, it is shown beside
        the screenshot that was allowed before.
        """
        found = await self._services.task_service.question(request.path_params["question"])
        if found is None or await self._task(request, found.task) is None:
            raise _gone()
        return _drawn(await question_picture(found.question, self._frames))

    async def _ended(self, request: Request) -> Task:
        task = await self._task(request, request.path_params["task"])
        if task is None or task.outcome is None:
            raise _gone()
        return task

    async def _task(self, request: Request, number: str) -> Task | None:
        task = await self._services.task_service.get(number)
        return task if task is not None and self._viewers.of(request).sees(task) else None


def _gone() -> RequestRefused:
    return RequestRefused(404, say("refusal.picture"))


def _drawn(picture: Picture | None) -> Response:
    if picture is None:
        raise _gone()
    headers = HEADERS | {"Cache-Control": "private, max-age=600"}
    return Response(picture.data, headers=headers, media_type=picture_type(picture.data))


GLANCE_EVERY = 3.0
"""Least seconds between pictures. A raw picture over USB takes about 0.2 s, over Wi-Fi up to three."""
PATIENCE_S = 8.0
"""Seconds for one picture; a slower phone is left alone until the next time."""
SHOWN = (360, 800)
"""Most pixels: twice what the page shows, for dense screens."""
QUALITY = 70


@dataclass
class _Seen:
    """The last picture of a phone, and when it was taken by the loop's clock. `number` distinguishes pictures."""

    taken: float = float("-inf")
    picture: bytes | None = None
    app: str = ""
    number: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Thumbnails:
    """Handles requests for small pictures of phones. `now` returns monotonic seconds; `theirs` returns the phones that
    a request's sender may see.
    """

    def __init__(
        self, services: Services, now: Callable[[], float], theirs: Callable[[Request], Sequence[PhoneInfo]]
    ) -> None:
        self._visible_phones = theirs
        self._phones = services.phones
        self._tasks = services.task_service
        self._now = now
        self._held_by = services.remote_control.held_by
        self._seen: dict[str, _Seen] = {}

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            get("/api/devices/{phone}/glance", self.glance, Right.USE),
            get("/api/devices/{phone}/glance/{number}", self.picture, Right.USE),
        ]

    async def glance(self, request: Request) -> Response:
        """Return the address of a small picture of the phone's screen, and the app in front. The status 409 says why
        there is none.
        """
        info = next((one for one in self._visible_phones(request) if one.id == request.path_params["phone"]), None)
        if info is None:
            return refuse(404, say("refusal.phone"))
        if info.health not in {Health.READY, Health.LOW_BATTERY}:
            return refuse(409, say("refusal.not_ready", name=info.name, state=health_words(info.health)))
        if await self._is_at_work(info.id):
            return refuse(409, say("refusal.at_work", name=info.name))
        if person := self._held_by(info.id):
            return refuse(409, say("hand.held_now", phone=info.name, person=person))
        seen = await self._look(info)
        if seen.picture is None:
            return refuse(409, say("page.phones.hidden"))
        return JSONResponse({"picture": f"{request.scope['path']}/{seen.number}", "app_name": seen.app})

    async def picture(self, request: Request) -> Response:
        """Return the latest picture of the phone as a JPEG; 404 if `number` names an earlier one."""
        wanted = request.path_params["phone"]
        seen = self._seen.get(wanted) if any(phone.id == wanted for phone in self._visible_phones(request)) else None
        if seen is None or seen.picture is None or request.path_params["number"] != str(seen.number):
            raise _gone()
        return Response(seen.picture, headers={"Cache-Control": "no-store"}, media_type="image/jpeg")

    async def _is_at_work(self, phone: str) -> bool:
        return any(task.phone == phone and task.state in HOLDS for task in await self._tasks.active())

    async def _look(self, info: PhoneInfo) -> _Seen:
        seen = self._seen.setdefault(info.id, _Seen())
        async with seen.turn:
            if self._now() - seen.taken < GLANCE_EVERY:
                return seen
            picture = await self._taken(info)
            if picture != seen.picture:
                seen.picture, seen.number = picture, seen.number + 1
            # Taking the picture has also updated the phone's app.
            fresh = next((phone for phone in self._phones.list() if phone.id == info.id), info)
            seen.app = fresh.app_name or readable(fresh.app)
            # Failed attempts also count, so that none is repeated at once.
            seen.taken = self._now()
            return seen

    async def _taken(self, info: PhoneInfo) -> bytes | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                screen = await self._phones.get(info.id).glance()
        except (PhoneError, TimeoutError) as error:
            logger.info("the page got no picture of %s: %s", info.name, str(error) or "too slow")
            return None
        return None if screen is None else await asyncio.to_thread(_small, screen)


def _small(screen: Image.Image) -> bytes:
    picture = screen.convert("RGB")
    picture.thumbnail(SHOWN, Image.Resampling.LANCZOS, reducing_gap=2.0)
    target = io.BytesIO()
    picture.save(target, "JPEG", quality=QUALITY)
    return target.getvalue()
