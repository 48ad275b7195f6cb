"""Signing in with the operator's password or a person's own token, limits on wrong attempts, and the list of
sessions.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.domain.right import Right
from bot.people.tokens import Tokens
from bot.store.errors import StoreError
from bot.texts import say
from bot.web.api import Body, body_of
from bot.web.auth import SIGN_IN, ConsoleGate, caller_of, remote_of
from bot.web.exposure import is_loopback
from bot.web.http import get, post, refuse
from bot.web.passwords import MOST, Password
from bot.web.sessions import Way

logger = logging.getLogger(__name__)


WRONG_ALLOWED = 5
"""Wrong passwords from one address within WINDOW_S before it must wait."""
WRONG_OF_ALL = 50
"""Wrong passwords from all addresses together, against many that try a few times each. Sessions are unaffected."""
WINDOW_S = 900.0


class Attempts:
    """Counts wrong passwords for each network address and for all together. `now` returns monotonic seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._wrong: list[tuple[float, str]] = []

    def wait(self, address: str) -> float:
        """Return the seconds until this address may try again; 0 if it may try now."""
        oldest = self._now() - WINDOW_S
        self._wrong = [(at, tried) for at, tried in self._wrong if at > oldest]
        own = [at for at, tried in self._wrong if tried == address]
        waits = [
            times[-most] + WINDOW_S - self._now()
            for times, most in ((own, WRONG_ALLOWED), ([at for at, _ in self._wrong], WRONG_OF_ALL))
            if len(times) >= most
        ]
        return max(waits, default=0.0)

    def record_failure(self, address: str) -> None:
        """Count a wrong password from this address."""
        self._wrong.append((self._now(), address))

    def reset(self, address: str) -> None:
        """Forget the wrong passwords of this address, because the right one was given."""
        self._wrong = [(at, tried) for at, tried in self._wrong if tried != address]


class Typed(Body):
    """The body of a request to sign in: what the person typed."""

    password: str = Field(min_length=1, max_length=MOST, repr=False)


class Who(Body):
    """The body of a request to sign out: end the caller's own session, or all others."""

    others: bool = False


class SignIn:
    """Handles the requests to sign in and out. Passwords are checked one at a time, within the limits on wrong
    attempts.
    """

    def __init__(self, gate: ConsoleGate, password: Password | None, tokens: Tokens) -> None:
        self._gate = gate
        self._tokens = tokens
        self._password = password
        self._attempts = Attempts(time.monotonic)
        self._lock = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            post(SIGN_IN, self.sign_in, None),
            post("/api/sign-out", self.sign_out, Right.USE),
            get("/api/sessions", self.sessions),
        ]

    async def sign_in(self, request: Request) -> Response:
        """Begin a session for the right password or a person's token. Answers 401 for a wrong one, 429 after too many
        wrong ones, and 404 if there is neither a password nor a token to sign in with.
        """
        if not self._gate.signs_in:
            return refuse(404, say("refusal.no_password"))
        typed = await body_of(request, Typed)
        address = caller_address(request)
        async with self._lock:
            if wait := self._attempts.wait(address):
                return _later(wait)
            token = self._tokens.find(typed.password)
            password = self._password
            fits = password is not None and token is None and await asyncio.to_thread(password.matches, typed.password)
            if token is None and not fits:
                self._attempts.record_failure(address)
                logger.warning("A wrong password for the console came from %s", address)
                return refuse(401, say("page.sign.wrong"))
            self._attempts.reset(address)
        response = JSONResponse({"signed_in": True})
        if token is None:
            logger.info("Signed in to the console from %s", address)
            await self._gate.admit(request, response, Way.PASSWORD, address)
        else:
            logger.info("%s signed in to the console from %s", token.name, address)
            await self._gate.admit(request, response, Way.PERSON, address, token.name)
        return response

    async def sign_out(self, request: Request) -> Response:
        """End the caller's session and all its open pages, or all other sessions. For a person, "all others" are those
        of the same token.
        """
        who = await body_of(request, Who)
        caller = caller_of(request)
        own = caller.session
        try:
            if who.others:
                ended = await self._gate.sessions.end_all(but=own, of="" if caller.token is None else caller.name)
                logger.info("Other sessions of the console have ended: %d", ended)
                return JSONResponse({"ended": ended})
            await self._gate.sessions.end([own])
        except StoreError as error:
            logger.warning("Sessions of the console have ended, but return at the next start: %s", error)
            return refuse(503, say("page.sign.not_kept"))
        response = JSONResponse({"ended": 1})
        self._gate.delete_cookie(request, response)
        return response

    async def sessions(self, request: Request) -> Response:
        """Return the list of valid sessions as JSON, the most recently used first, without anything that could be used
        to sign in.
        """
        own = caller_of(request).session
        listed = [
            {
                "way": one.way,
                "name": one.token,
                "address": one.address,
                "begun": one.begun,
                "used": one.used,
                "own": one.digest == own,
            }
            for one in self._gate.sessions.listed()
        ]
        return JSONResponse({"sessions": listed})


def _later(wait: float) -> Response:
    minutes = math.ceil(wait / 60)
    response = refuse(429, say("page.sign.locked", minutes=minutes))
    response.headers["Retry-After"] = str(math.ceil(wait))
    return response


def caller_address(request: Request) -> str:
    """Return the client's network address. Behind a proxy on this machine, it is the last entry of X-Forwarded-For,
    which the proxy appends.
    """
    remote = remote_of(request)
    forwarded = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return forwarded[:100] if forwarded and is_loopback(remote) else remote
