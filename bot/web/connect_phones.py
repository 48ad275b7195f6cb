"""Lets admins add phones over Wi-Fi on the page, with the code that the phone shows or with a QR code."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Final, Protocol

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.application.services import Services
from bot.config.installation import lack_of
from bot.logs.lines import REDACTION
from bot.texts import say
from bot.web.api import Body, body_of
from bot.web.connect import admin_of
from bot.web.http import RequestRefused, get, post
from devices.adb.host import Announced, Invitation
from devices.errors import PhoneError
from devices.extras import Extra, is_installed
from devices.wording import said, sentence_of

INVITED_S: Final = 120.0
"""Seconds for which a QR code is valid."""

logger = logging.getLogger(__name__)


class PhoneWish(Body):
    """The address of a phone on the network. With a `code` the service pairs with it; without one it connects."""

    address: str = Field(min_length=1, max_length=300)
    code: str = Field(default="", max_length=20, repr=False)


class Wifi(Protocol):
    """The operations for phones over Wi-Fi (see `devices.adb.host`). Every method raises PhoneError."""

    async def pair(self, address: str, code: str) -> None:
        """Pair with the phone at this address, which shows this pairing code."""

    async def pair_invited(self, invitation: Invitation) -> str:
        """Pair with the phone that has scanned the invitation's QR code. Returns its address; "" if no phone has
        scanned it yet.
        """

    async def connect(self, address: str) -> None:
        """Connect to the phone at this address, which is paired with this machine already."""

    async def announced(self) -> Sequence[Announced]:
        """Return the phones that announce themselves on the network."""


class ConnectPhones:
    """Handles the requests for phones over Wi-Fi. `clock` returns seconds."""

    def __init__(self, services: Services, wifi: Wifi, clock: Callable[[], float] = time.monotonic) -> None:
        self._services = services
        self._wifi = wifi
        self._clock = clock
        self._invitation: tuple[Invitation, float] | None = None
        self._lock = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            get("/api/connect/phones", self.announced),
            post("/api/connect/phones", self.add),
            post("/api/connect/phones/invitation", self.invite),
            get("/api/connect/phones/invitation", self.invited),
        ]

    async def announced(self, request: Request) -> Response:
        """List the phones that announce themselves on the network."""
        admin_of(request, self._services)
        try:
            found = await self._wifi.announced()
        except PhoneError as error:
            raise RequestRefused(409, said(sentence_of(error))) from None
        return JSONResponse({"announced": [asdict(one) for one in found]})

    async def add(self, request: Request) -> Response:
        """Pair with a phone on the network, or connect to it."""
        person = admin_of(request, self._services)
        wish = await body_of(request, PhoneWish)
        address = wish.address.strip()
        try:
            if wish.code:
                await self._wifi.pair(address, wish.code.replace(" ", ""))
            else:
                await self._wifi.connect(address)
        except PhoneError as error:
            raise RequestRefused(409, said(sentence_of(error))) from None
        logger.info("%s:%s has %s %s", person.platform, person.id, "paired" if wish.code else "connected", address)
        text = say("connect.paired" if wish.code else "connect.phone_connected", address=address)
        return JSONResponse({"text": text})

    async def invite(self, request: Request) -> Response:
        """Create a QR code with which a phone can be paired, and return it as rows of 0 and 1. It replaces the previous
        one.
        """
        admin_of(request, self._services)
        if not is_installed(Extra.QR):
            raise RequestRefused(409, said(lack_of(Extra.QR)))
        import segno  # noqa: PLC0415 - an extra, loaded when it is used

        invitation = Invitation.new()
        REDACTION.cover(invitation.password, INVITED_S)
        self._invitation = (invitation, self._clock() + INVITED_S)
        rows = ["".join("1" if dark else "0" for dark in row) for row in segno.make_qr(invitation.text).matrix]
        return JSONResponse({"rows": rows, "seconds": INVITED_S}, headers={"Cache-Control": "no-store"})

    async def invited(self, request: Request) -> Response:
        """Check whether a phone has scanned the QR code. If so, pair with it; the code is then used up."""
        person = admin_of(request, self._services)
        async with self._lock:
            if self._invitation is None or self._clock() >= self._invitation[1]:
                self._invitation = None
                return JSONResponse({"state": "over", "text": say("connect.qr_over")})
            try:
                address = await self._wifi.pair_invited(self._invitation[0])
            except PhoneError as error:
                self._invitation = None
                raise RequestRefused(409, said(sentence_of(error))) from None
            if not address:
                return JSONResponse({"state": "waiting", "text": ""})
            self._invitation = None
        logger.info("%s:%s has paired %s", person.platform, person.id, address)
        return JSONResponse({"state": "paired", "text": say("connect.paired", address=address)})
