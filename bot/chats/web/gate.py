"""Who may talk to the console: other pages in the same browser and other users of the machine may not.

Loopback is no wall. A page from anywhere can send requests to 127.0.0.1, a name of an attacker can be made to point
there (DNS rebinding), and every local user can connect. So every request must name a loopback host with our port,
come from our own page when it comes from a page, and carry the token that only the starter of the service saw.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.chats.web.errors import ConsoleHostRefused

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

HTTP_PORT = 80


def loopback(host: str) -> str:
    """`host` when only this machine can reach it. Raises ConsoleHostRefused."""
    name = host.strip().strip("[]")
    if name == "localhost":
        return name
    try:
        if ipaddress.ip_address(name).is_loopback:
            return name
    except ValueError:
        pass
    raise ConsoleHostRefused(host)


def url_host(host: str) -> str:
    """The host as it is written in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


class Gate:
    """Checks every request, before any handler sees it."""

    def __init__(self, host: str, token: str) -> None:
        self._names = {"127.0.0.1", "localhost", "[::1]", url_host(host)}
        self._token = token.encode()
        self._hosts: frozenset[str] = frozenset()
        self.cookie = ""
        """The cookie's name. It carries the port, since browsers share cookies between ports."""

    def opened(self, port: int) -> None:
        """The port is known now; before this every request is refused."""
        hosts = {f"{name}:{port}" for name in self._names}
        self._hosts = frozenset(hosts | self._names if port == HTTP_PORT else hosts)
        self.cookie = f"opengui_console_{port}"

    def right(self, token: str) -> bool:
        """Whether this is the start token; takes the same time for every wrong one."""
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._token)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The middleware: refuses with a sentence, or lets the request through."""
        refusal = self._misdirected(request)
        if refusal:
            return refuse(403, refusal)
        if re.match(r"/api(/|$)", request.path):
            if not self._known(request):
                return refuse(401, "Open the address that the service printed at its start: it carries the token.")
            if request.method == "POST" and request.content_type not in BODY_TYPES:
                return refuse(415, "Send the request as application/json.")
        return await handler(request)

    def _misdirected(self, request: web.Request) -> str:
        if request.host not in self._hosts:
            return "The console answers only under its own address on this machine."
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{request.host}":
            return "Another page may not use the console."
        if request.path != "/" and request.headers.get("Sec-Fetch-Site", "") not in OWN_FETCHES:
            return "Another page may not use the console."
        return ""

    def _known(self, request: web.Request) -> bool:
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer" and self.right(bearer.strip()):
            return True
        return self.right(request.cookies.get(self.cookie, ""))


def refuse(status: int, sentence: str) -> web.Response:
    """A refusal, for people and programs alike."""
    return web.json_response({"error": sentence}, status=status)


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Put the protecting headers on an answer."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
