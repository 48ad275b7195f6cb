"""Who may talk to the console: other pages in the same browser and other users of the machine may not.

Loopback is no wall. A page from anywhere can send requests to 127.0.0.1, a name of an attacker can be made to point
there (DNS rebinding), and every local user can connect. So every request must name a host that is ours, come from our
own page when it comes from a page, and carry the token that only the starter of the service saw, or a session that
began with that token or with the password.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from bot.texts import say
from bot.web.exposure import LOOPBACK_NAMES, Exposure, hosts, is_loopback, url_host
from bot.web.sessions import LIFETIME_S, Sessions, Way

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

BODY_TYPES = {"application/json", "application/octet-stream"}
"""Types that no page elsewhere can send without asking this server first, as it can send forms and plain text."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""On every answer, refusals included."""

OWN_FETCHES = frozenset({"", "same-origin", "none"})
"""Sec-Fetch-Site of our own page, of an address typed by hand, and of programs that are no browser."""
PROXIED = re.compile(
    r"forwarded|via|cdn-loop|(x-forwarded|x-original|x-real|x-proxy|x-envoy|cf)-.*|.*-client-?ip", re.IGNORECASE
)
"""Headers that proxies add. One that names the console as 127.0.0.1 must not make its callers neighbours."""
SAFE_METHODS = frozenset({"GET", "HEAD"})
SIGN_IN = "/api/sign-in"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a program with the start token ("" as session), or a browser, by what its session is known by."""

    session: str
    way: Way = Way.TOKEN


CALLER = web.RequestKey("caller", Caller)


class Gate:
    """Checks every request, before any handler sees it."""

    def __init__(self, door: Exposure, token: str, sessions: Sessions) -> None:
        self._door = door
        self._token = token.encode()
        self._local: frozenset[str] = frozenset()
        self._elsewhere: frozenset[str] = frozenset()
        self._own: frozenset[str] = frozenset()
        self._origin = ""
        self._cookies: dict[Way, str] = {}
        self.sessions = sessions

    def opened(self, port: int) -> None:
        """The port is known now; before this every request is refused."""
        names = LOOPBACK_NAMES | ({url_host(self._door.host)} if self._door.local else set())
        self._local = frozenset().union(*(hosts(f"http://{name}:{port}") for name in names))
        self._origin = self._door.origin(port)
        self._elsewhere = hosts(self._origin) if self._origin else frozenset()
        own = hosts(self._door.own_url(port))
        if not own & self._local:
            # The command line comes by it; pages do not, since their origin must be the one above.
            self._elsewhere |= own
            self._own = own
        # Named after the port, since browsers share cookies between ports. Where people come by https the browser
        # itself binds theirs to this host.
        covered = "__Host-" if self._door.covered else ""
        self._cookies = {Way.TOKEN: f"opengui_console_{port}", Way.PASSWORD: f"{covered}opengui_session_{port}"}

    @property
    def signs_in(self) -> bool:
        """Whether there is a password."""
        return self._door.password is not None

    def right(self, token: str) -> bool:
        """Whether this is the start token; takes the same time for every wrong one."""
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._token)

    def here(self, request: web.Request) -> bool:
        """Whether it came under a name of this machine's own, from this machine, and through no proxy."""
        return request.host in self._local and is_loopback(request.remote or "") and not _passed_on(request)

    def _on_this_machine(self, request: web.Request) -> bool:
        """Whether a program of this machine sent it, also to the only address at which a console is that listens in a
        network: to that a machine comes from that very address.
        """
        if request.host not in self._own:
            return self.here(request)
        address = None if request.transport is None else request.transport.get_extra_info("sockname")
        return address is not None and request.remote == address[0] and not _passed_on(request)

    def covered(self, request: web.Request) -> bool:
        """Whether its page was opened by https."""
        return self._door.covered and not self.here(request)

    async def admit(self, request: web.Request, response: web.StreamResponse, way: Way, address: str) -> None:
        """Begin a session for the browser that is answered."""
        response.set_cookie(
            self._cookies[way],
            await self.sessions.begin(way, address),
            path="/",
            max_age=int(LIFETIME_S[way]),
            httponly=True,
            samesite="Strict",
            secure=self.covered(request),
        )

    def dismiss(self, request: web.Request, response: web.StreamResponse) -> None:
        """Take the session's cookie back from the browser that is answered."""
        name = self._cookies[request[CALLER].way]
        response.del_cookie(name, path="/", secure=self.covered(request), httponly=True, samesite="Strict")

    def still(self, request: web.Request) -> bool:
        """Whether whoever opened a stream may still read it."""
        caller = request.get(CALLER)
        return caller is None or not caller.session or self.sessions.holds(caller.session)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The middleware: refuses with a sentence, or lets the request through."""
        refusal = self._misdirected(request)
        if refusal:
            return refuse(403, refusal)
        if not re.match(r"/api(/|$)", request.path):
            if request.path == "/" or request.path.startswith("/page/") or self.here(request):
                return await handler(request)
            return refuse(403, say("refusal.elsewhere"))
        if request.path != SIGN_IN:
            caller = await self.caller(request)
            if caller is None:
                return self._unknown()
            if caller.session and request.method not in SAFE_METHODS and "Origin" not in request.headers:
                return refuse(403, say("refusal.other_page"))
            request[CALLER] = caller
        if request.method == "POST" and request.content_type not in BODY_TYPES:
            return refuse(415, say("refusal.type"))
        return await handler(request)

    def _unknown(self) -> web.Response:
        return web.json_response({"error": say("refusal.unknown"), "sign_in": self.signs_in}, status=401)

    def _misdirected(self, request: web.Request) -> str:
        if not self.here(request) and request.host not in self._elsewhere:
            return say("refusal.address")
        origin = request.headers.get("Origin")
        if origin is not None and origin != (
            self._origin if request.host in self._elsewhere else f"http://{request.host}"
        ):
            return say("refusal.other_page")
        if request.path != "/" and request.headers.get("Sec-Fetch-Site", "") not in OWN_FETCHES:
            return say("refusal.other_page")
        return ""

    async def caller(self, request: web.Request) -> Caller | None:
        """Who asks, None when that is nobody whom the console knows."""
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer" and self._on_this_machine(request) and self.right(bearer.strip()):
            return Caller("")
        for way, name in self._cookies.items():
            if way is Way.TOKEN and not self.here(request):
                continue
            if session := await self.sessions.use(request.cookies.get(name, ""), way):
                return Caller(session, way)
        return None


def _passed_on(request: web.Request) -> bool:
    return any(PROXIED.fullmatch(name) for name in request.headers)


def refuse(status: int, sentence: str) -> web.Response:
    """A refusal, for people and programs alike."""
    return web.json_response({"error": sentence}, status=status)


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Put the protecting headers on an answer."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
