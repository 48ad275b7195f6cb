"""Lets a person operate a phone by hand on the page, with live pictures, or video if phone and browser support it.

Touches refer to the still pictures, and only those show whether the screen may be shown: video is sent only between two
stills that allow it. A screen that was just locked stays visible until the next still, for a quarter of a second; the
phone itself blacks out what apps protect.

Pictures are captured only while a page reads the stream, and sent only if they have changed. Nothing is stored: the
last picture stays in memory for a page that reloads, until the person is done.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Final, Literal
from weakref import WeakKeyDictionary

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent import actions as act
from bot.application.access import Caller, NotAllowed, Refused, require, verdict
from bot.application.phones import open_phones, require_usable
from bot.application.services import Services
from bot.commands.hand import ask_approver, note, take
from bot.domain.address import Place
from bot.domain.right import Right
from bot.domain.task import TaskError
from bot.tasks.manual_input import ManualAction, NeedsApproval, OnStill, Still
from bot.tasks.remote_control import ControlSession, LiveStill, RemoteControlService
from bot.texts import say
from bot.web.api import Body, body_of
from bot.web.chat import HOME
from bot.web.http import Handler, RequestRefused, Streamed, Write, get, post, refuse
from bot.web.viewers import person_of, place_of
from bot.web.wakeup import any_of
from devices.errors import PhoneError
from devices.geometry import Size
from devices.inputs import MAX_SWIPE_MS, MIN_SWIPE_MS, Key
from devices.pictures import Jpeg

logger = logging.getLogger(__name__)

UNSEEN_S: Final = 3.0
"""Seconds after the last still when video stops, because it is unknown whether the screen may be shown."""
BEHIND_S: Final = 1.0
"""Seconds that a page may take for a picture; one that is further behind would show the past."""
_PARAMETERS: Final = re.compile(rb"\x00\x00\x01[\x07\x27\x47\x67](...)", re.DOTALL)
"""A sequence parameter set: profile, constraints and level, which identify the codec (RFC 6381, 3.3)."""
_KEY: Final = re.compile(rb"\x00\x00\x01[\x05\x25\x45\x65]")
"""A slice of a picture that depends on no other."""


class Video:
    """The video of a phone that a person operates, for one page. `write` sends its records, among those of the still
    pictures.

    Each record contains its `codec` (as in WebCodecs) if the decoder must be set up again, and says whether it is a
    `key` frame.
    """

    def __init__(self, remote_control: RemoteControlService, session: ControlSession, write: Write) -> None:
        self._hands = remote_control
        self._hold = session
        self._write = write
        self._size: Size | None = None
        self._seen = 0.0
        self._filming: asyncio.Task[bool] | None = None

    async def follow(self, live: LiveStill | None) -> None:
        """Start, continue or end the video according to the latest still picture; None if taking that failed. Video is
        not started again for a phone that sent no picture, or a page that is too slow.
        """
        if live is not None:
            self._seen = asyncio.get_running_loop().time()
            size = None if live.image is None else live.still.seen.size
            if size != self._size:
                await self.aclose()
            self._size = size
        if self._size is not None and (self._filming is None or (self._filming.done() and self._filming.result())):
            self._filming = asyncio.create_task(self._film(self._size), name=f"video of {self._hold.name}")

    async def aclose(self) -> None:
        """End the video."""
        filming, self._filming = self._filming, None
        if filming is not None:
            filming.cancel()
            await asyncio.wait({filming})

    async def _film(self, size: Size) -> bool:
        """Send pictures until the phone ends the recording; return whether to start another."""
        loop, told = asyncio.get_running_loop(), False
        try:
            film = self._hands.film(self._hold, size)
            if film is None:
                return False
            async with aclosing(film):
                async for unit in film:
                    if loop.time() - self._seen > UNSEEN_S:
                        break
                    async with asyncio.timeout(BEHIND_S):
                        await self._write(_video_record(unit))
                    told = True
        except (PhoneError, TimeoutError) as error:
            logger.info("the page gets stills of %s, and no video: %s", self._hold.name, str(error) or "too slow")
            return False
        return told


def record(head: dict[str, object], data: bytes) -> bytes:
    """Encode a record for the page: the length of a JSON line, that line, and the data. The line contains the number of
    data bytes.
    """
    line = json.dumps({**head, "bytes": len(data)}).encode()
    return len(line).to_bytes(4) + line + data


def _video_record(unit: bytes) -> bytes:
    parameters = _PARAMETERS.search(unit)
    codec = {} if parameters is None else {"codec": f"avc1.{parameters[1].hex()}"}
    return record({"video": True, "key": _KEY.search(unit) is not None, **codec}, unit)


IDLE_S: Final = 20.0
"""Seconds without a page looking or touching after which the phone is released; a reload takes two."""
FAST_S: Final = 0.125
"""Seconds between pictures just after something has moved: eight a second."""
SLOW_S: Final = 0.25
"""Seconds between pictures while nothing moves: four a second."""
FAST_FOR_S: Final = 2.0
PATIENCE_S: Final = 8.0
"""Seconds for one picture."""
STREAM_S: Final = 60.0
"""Seconds after which a stream ends and the page opens another, so that people who lost the right stop watching."""
LARGEST: Final = (720, 1600)
"""Most pixels: what a page shows on a dense screen, about 60 kB."""
TYPED_LIMIT: Final = 4_000


class Taken(Body):
    """The body of a request to operate a phone by hand."""

    phone: str = Field(min_length=1, max_length=200)


Share = Annotated[float, Field(ge=0, lt=1)]
"""A position as a fraction of the picture's width or height."""


class Touch(Body):
    """The body of a request with one input on a live picture. `event` is an id chosen by the page; the same input is
    performed only once.
    """

    event: str = Field(min_length=8, max_length=100)
    still: int = Field(ge=1)
    """The number of the picture that was touched."""
    kind: Literal["tap", "long_press", "swipe", "drag", "type", "key"]
    x: Share = 0.0
    y: Share = 0.0
    to_x: Share = 0.0
    to_y: Share = 0.0
    milliseconds: int = Field(default=300, ge=MIN_SWIPE_MS, le=MAX_SWIPE_MS)
    text: str = Field(default="", max_length=TYPED_LIMIT, repr=False)
    key: Key | None = None


class LiveHand:
    """Handles the requests for operating a phone by hand. Setting `stopping` ends every stream."""

    def __init__(self, services: Services, stopping: asyncio.Event) -> None:
        self._services = services
        self._stopping = stopping
        self._last: WeakKeyDictionary[ControlSession, bytes] = WeakKeyDictionary()

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            post("/api/hand", _with_refusals(self.take), Right.OPERATE),
            get("/api/hand/{hold}/stills", _with_refusals(self.stills), Right.OPERATE),
            post("/api/hand/{hold}/touch", _with_refusals(self.touch), Right.OPERATE),
            post("/api/hand/{hold}/done", _with_refusals(self.done), Right.OPERATE),
        ]

    async def take(self, request: Request) -> Response:
        """Let the caller operate a phone. A task that is working on it is paused."""
        wish = await body_of(request, Taken)
        asked = _caller(request)
        info = next((info for info in open_phones(asked, self._services) if info.id == wish.phone), None)
        if info is None:
            return refuse(404, say("hand.no_phone"))
        require_usable(info)
        hold = await take(info, asked, self._services, idle=IDLE_S)
        return JSONResponse({"hand": hold.id, "phone": hold.phone, "name": hold.name, "task": hold.task})

    async def stills(self, request: Request) -> Response:
        """Stream live pictures as binary records. Each record consists of the length of a JSON line (four bytes), that
        line, and as many bytes of a JPEG as the line says, none for a screen that may not be shown. With `?video=1`,
        records of `Video` are sent as well, if the phone provides it.
        """
        hold = self._held(request)
        wanted = request.query_params.get("video") == "1"

        async def tell(write: Write) -> None:
            hands = self._services.remote_control
            async with hands.watching(hold), aclosing(Video(hands, hold, write)) as video:
                await self._stream(hold, write, video if wanted else None)

        return Streamed(tell, {"Content-Type": "application/octet-stream", "Cache-Control": "no-store"})

    async def _stream(self, session: ControlSession, write: Write, video: Video | None) -> None:
        loop = asyncio.get_running_loop()
        until, fast_until, told = loop.time() + STREAM_S, loop.time() + FAST_FOR_S, 0
        if (last := self._last.get(session)) is not None:
            await write(last)
        while loop.time() < until and not (session.ended.is_set() or self._stopping.is_set()):
            began, stirred = loop.time(), session.touch_event
            try:
                async with asyncio.timeout(PATIENCE_S):
                    live = await self._services.remote_control.live(session)
            except (PhoneError, TimeoutError) as error:
                logger.info("the page got no live picture of %s: %s", session.name, str(error) or "too slow")
                live = None
            if video is not None:
                await video.follow(live)
            if live is not None and live.still.number != told:
                told, fast_until = live.still.number, began + FAST_FOR_S
                self._last[session] = await asyncio.to_thread(_record, live)
                await write(self._last[session])
            pause = began + (FAST_S if began < fast_until else SLOW_S) - loop.time()
            if pause > 0:
                await any_of(stirred, session.ended, self._stopping, seconds=pause)
            if stirred.is_set():
                fast_until = loop.time() + FAST_FOR_S

    async def touch(self, request: Request) -> Response:
        """Send an input to the phone, at the place that was touched in the picture. The status 409 says why nothing was
        sent. If the input needs an approval, nothing is sent either: an approver is asked, and the answer says so.
        """
        wish = await body_of(request, Touch)
        hold = self._held(request)
        asked = _caller(request)
        require(asked, self._services.policy, Right.OPERATE, phone=hold.phone)
        still = hold.still(wish.still)
        if still is None:
            return refuse(409, say("hand.no_still"))
        action = _action(wish, still)
        approves = verdict(asked, self._services.policy, Right.APPROVE, phone=hold.phone).allowed
        try:
            touched = await self._services.remote_control.touch(
                hold, action, wish.event, OnStill(still), approves=approves
            )
        except NeedsApproval as needs:
            # In the operator's console, because nobody in the person's own chat could approve it.
            await ask_approver(needs, action, hold, replace(asked, place=Place(HOME, private=True)), self._services)
            return JSONResponse({"asked": needs.what})
        await note(action, touched, hold, asked, self._services)
        return JSONResponse({"app": touched.app, "target": touched.target})

    async def done(self, request: Request) -> Response:
        """End the caller's operation of the phone. A task that was paused for it resumes."""
        hold = self._held(request)
        return JSONResponse({"task": await self._services.remote_control.finish(hold, person_of(request))})

    def _held(self, request: Request) -> ControlSession:
        """Return the caller's hold. Raises RequestRefused."""
        hold = self._services.remote_control.get(request.path_params["hold"])
        if hold is None or not self._services.policy.same(hold.person, person_of(request)):
            raise RequestRefused(404, say("hand.over"))
        return hold


def _with_refusals(handler: Callable[[Request], Awaitable[Response]]) -> Handler:
    """Return the handler with its refusals turned into answers."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except NotAllowed as refused:
            return refuse(403, str(refused))
        except (Refused, TaskError) as refused:
            return refuse(409, str(refused))

    return answered


def _caller(request: Request) -> Caller:
    return Caller(person_of(request), place_of(request), "")


def _action(wish: Touch, still: Still) -> ManualAction:
    """Return the input in native pixels. Raises RequestRefused."""
    start = _point(wish.x, wish.y, still.seen.size)
    end = _point(wish.to_x, wish.to_y, still.seen.size)
    match wish.kind:
        case "tap":
            return act.Tap(target=start)
        case "long_press":
            return act.LongPress(target=start)
        case "swipe":
            return act.Swipe(start=start, end=end, duration_ms=wish.milliseconds)
        case "drag":
            return act.Drag(start=start, end=end)
        case "type" if wish.text:
            return act.Type(text=wish.text)
        case "key" if wish.key is not None:
            return act.PressKey(key=wish.key)
    raise RequestRefused(400, say("refusal.form", where="kind", why=wish.kind))


def _point(x: float, y: float, size: Size) -> act.PointTarget:
    return act.PointTarget(x=int(x * size.width), y=int(y * size.height))


def _record(live: LiveStill) -> bytes:
    """Encode a picture for the page. Blocks for about 10 ms."""
    data = b""
    if live.image is not None:
        scale = min(1.0, LARGEST[0] / live.image.width, LARGEST[1] / live.image.height)
        size = Size(max(1, round(live.image.width * scale)), max(1, round(live.image.height * scale)))
        data = Jpeg.of(live.image.convert("RGB"), size).data
    return record({"still": live.still.number}, data)
