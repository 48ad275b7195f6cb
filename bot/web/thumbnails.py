"""Small pictures of idle phones for the page, each with the name of the app that it shows.

A picture is taken only when a page asks: at most one per phone in GLANCE_EVERY seconds, however many pages are open.
None is taken of a phone that a task uses, because the task stores pictures anyway.
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PIL import Image
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.application.services import Services
from bot.domain.right import Right
from bot.tasks.input import health_words
from bot.texts import say
from bot.web.http import get, refuse
from bot.web.views import HOLDS
from devices.errors import PhoneError
from devices.names import readable
from devices.phone import Health, PhoneInfo

logger = logging.getLogger(__name__)

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
        self._theirs = theirs
        self._phones = services.phones
        self._tasks = services.task_service
        self._now = now
        self._held_by = services.hands.held_by
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
        info = next((one for one in self._theirs(request) if one.id == request.path_params["phone"]), None)
        if info is None:
            return refuse(404, say("refusal.phone"))
        if info.health not in {Health.READY, Health.LOW_BATTERY}:
            return refuse(409, say("refusal.not_ready", name=info.name, state=health_words(info.health)))
        if await self._held(info.id):
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
        seen = self._seen.get(wanted) if any(phone.id == wanted for phone in self._theirs(request)) else None
        if seen is None or seen.picture is None or request.path_params["number"] != str(seen.number):
            return refuse(404, say("refusal.picture"))
        return Response(seen.picture, headers={"Cache-Control": "no-store"}, media_type="image/jpeg")

    async def _held(self, phone: str) -> bool:
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
