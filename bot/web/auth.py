"""Decides who may use the console. Other pages in the same browser and other users of this machine may not.

That the console listens on loopback does not protect it: any page can send requests to 127.0.0.1, an attacker's host
name can be made to point there (DNS rebinding), and every local user can connect. So every request must name one of our
hosts, and come from our own page if it comes from a page. It must also carry the start token, which only the person who
started the service saw, or a session that began with that token, a password or a person's token.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from bot.domain.address import Address, Person, Place
from bot.domain.right import API_PLATFORM, PAGE_PLATFORM, Right, Token
from bot.people.access import AccessDecision, authorize
from bot.people.rights import Rights
from bot.people.tokens import PREFIX
from bot.texts import say
from bot.web.chat import HOME, OPERATOR
from bot.web.exposure import LOOPBACK_NAMES, Exposure, hosts, is_loopback, url_host
from bot.web.http import refuse, refuse_at
from bot.web.sessions import LIFETIME_S, Sessions, Way

BODY_TYPES = {"application/json", "application/octet-stream"}
"""Content types that a page elsewhere cannot send without a preflight request, unlike forms and plain text."""
OWN_FETCHES = frozenset({"", "same-origin", "none"})
"""Sec-Fetch-Site of our own page, of a typed address, and of programs other than browsers."""
PROXIED = re.compile(
    r"forwarded|via|cdn-loop|(x-forwarded|x-original|x-real|x-proxy|x-envoy|cf)-.*|.*-client-?ip", re.IGNORECASE
)
"""Headers that proxies add. Callers behind a proxy that reaches the console as 127.0.0.1 are not on this machine."""
SAFE_METHODS = frozenset({"GET", "HEAD"})
SIGN_IN = "/api/sign-in"
HOOKS = "/hooks/"
"""Paths that programs call with a secret, which is checked there (bot.webhooks.hooks)."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request: a program, or a browser with a session."""

    session: str
    """The digest that identifies the browser's session; "" for a program."""
    way: Way = Way.TOKEN
    """How the session was opened."""
    name: str = ""
    """The name of the person's token; "" for the operator."""
    token: Token | None = None
    """The token that a program sent, or with which a person other than the operator signed in. It limits what they may
    do. None for the operator.
    """

    @property
    def person(self) -> Person:
        """The account on whose behalf the request acts: the operator, the account of a program's token, or the person
        who signed in with a token.
        """
        if self.token is None:
            return replace(OPERATOR, id=self.name, name=self.name) if self.name else OPERATOR
        if not self.session:
            return self.token.person
        return Person(PAGE_PLATFORM, self.name, self.token.owner.name or self.name)

    @property
    def home(self) -> Address:
        """The caller's own chat, which only they can read."""
        if self.token is None:
            return HOME
        owner = f"{self.token.owner.platform}:{self.token.owner.id}"
        if not self.session:
            return Address(API_PLATFORM, API_PLATFORM, owner)
        return Address(PAGE_PLATFORM, HOME.account, owner)


def caller_of(request: Request) -> Caller:
    """Return the sender of a request that `ConsoleGate` has admitted."""
    caller: Caller = request.state.caller
    return caller


class ConsoleGate:
    """Checks every request before any handler sees it: its host, its origin, and its token or session."""

    def __init__(self, exposure: Exposure, token: str, sessions: Sessions, rights: Rights) -> None:
        self._exposure = exposure
        self._rights = rights
        self._token = token.encode()
        self._local: frozenset[str] = frozenset()
        self._elsewhere: frozenset[str] = frozenset()
        self._own: frozenset[str] = frozenset()
        self._origin = ""
        self._cookies: dict[Way, str] = {}
        self._serves: Callable[[Request], bool] = lambda _: True
        self.sessions = sessions

    def open(self, port: int, serves: Callable[[Request], bool]) -> None:
        """Begin to admit requests, now that the port is known. `serves` returns whether a request's path exists."""
        self._serves = serves
        names = LOOPBACK_NAMES | ({url_host(self._exposure.host)} if self._exposure.local else set())
        self._local = frozenset().union(*(hosts(f"http://{name}:{port}") for name in names))
        self._origin = self._exposure.origin(port)
        self._elsewhere = hosts(self._origin) if self._origin else frozenset()
        own = hosts(self._exposure.own_url(port))
        if not own & self._local:
            # The command line uses it; pages do not, because their origin must be the one above.
            self._elsewhere |= own
            self._own = own
        # Named after the port, because browsers share cookies between ports. Behind https the browser itself ties them
        # to this host.
        covered = "__Host-" if self._exposure.covered else ""
        self._cookies = {
            Way.TOKEN: f"opengui_console_{port}",
            Way.PASSWORD: f"{covered}opengui_session_{port}",
            Way.PERSON: f"{covered}opengui_person_{port}",
        }

    @property
    def signs_in(self) -> bool:
        """Whether anybody can sign in: with the operator's password, or with a person's token."""
        return self._exposure.password is not None or self.person_may_sign_in

    @property
    def person_may_sign_in(self) -> bool:
        """Whether there are valid access tokens, with which people can sign in."""
        return bool(self._rights.tokens.valid)

    def is_start_token(self, token: str) -> bool:
        """Return whether this is the start token. The check takes the same time for every wrong token."""
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._token)

    def is_local(self, request: Request) -> bool:
        """Return whether the request came from this machine, under one of its own names and not through a proxy."""
        return _host(request) in self._local and is_loopback(remote_of(request)) and not _passed_on(request)

    def _on_this_machine(self, request: Request) -> bool:
        """Whether a program on this machine sent the request. If the console only listens on a network address, a local
        program connects from that same address.
        """
        if _host(request) not in self._own:
            return self.is_local(request)
        own = request.scope["server"]
        return own is not None and remote_of(request) == own[0] and not _passed_on(request)

    def is_https(self, request: Request) -> bool:
        """Return whether the request came through HTTPS, from a proxy in front of the console."""
        return self._exposure.covered and not self.is_local(request)

    async def admit(self, request: Request, response: Response, way: Way, address: str, token: str = "") -> None:
        """Begin a session in the browser that sent `request`, by adding its cookie to `response`. `address` is the
        browser's network address; `token` is the name of the person's token, "" for the operator.
        """
        response.set_cookie(
            self._cookies[way],
            await self.sessions.begin(way, address, token),
            path="/",
            max_age=int(LIFETIME_S[way]),
            httponly=True,
            samesite="strict",
            secure=self.is_https(request),
        )

    def delete_cookie(self, request: Request, response: Response) -> None:
        """Delete the session cookie in the browser that sent `request`, by adding that to `response`."""
        name = self._cookies[caller_of(request).way]
        response.delete_cookie(name, path="/", secure=self.is_https(request), httponly=True, samesite="strict")

    def is_still_valid(self, request: Request) -> bool:
        """Return whether the caller who opened a stream with this request still has a valid session or token."""
        caller = caller_of(request)
        if caller.session:
            return self.sessions.is_valid(caller.session)
        return caller.token is None or self._rights.tokens.holds(caller.token)

    async def refusal(self, request: Request) -> Response | None:
        """Return the refusal of a request, None if it is admitted. The state of an admitted request then contains its
        caller and the check of their rights.
        """
        path = request.scope["path"]
        programs = FOR_PROGRAMS.match(path) is not None
        if refusal := self._misdirected(request):
            return refuse_at(request, 403, refusal, "other_page")
        if not programs and not re.match(r"/api(/|$)", path):
            if path == "/" or path.startswith(("/page/", "/docs", HOOKS)) or self.is_local(request):
                return None
            return refuse(403, say("refusal.elsewhere"))
        # A token in the address would end up in histories and proxy logs.
        if programs and any(value.startswith(PREFIX) for value in request.query_params.values()):
            return refuse_at(request, 400, say("refusal.token_in_address"), "token_in_address")
        if path != SIGN_IN:
            caller = self._program(request) if programs else None
            if caller is None and not path.startswith(FOR_TOKENS_ALONE):
                caller = await self.caller(request)
            if caller is None:
                if not self._serves(request):
                    return refuse_at(request, 404, say("api.no_path"))
                return self._unknown(request, programs=programs)
            if caller.session and request.method not in SAFE_METHODS and "Origin" not in request.headers:
                return refuse_at(request, 403, say("refusal.other_page"), "other_page")
            request.state.caller = caller
            request.state.verdict = partial(self._verdict, caller)
            request.state.still = partial(self.is_still_valid, request)
        of_form = path.endswith("/api/v1/files") and _content_type(request) == "multipart/form-data"
        if request.method in {"POST", "PATCH", "PUT"} and not of_form and _content_type(request) not in BODY_TYPES:
            return refuse_at(request, 415, say("refusal.type"))
        return None

    def _verdict(self, caller: Caller, right: Right) -> AccessDecision:
        return authorize(caller.person, Place(caller.home, private=True), right, self._rights.policy)

    def _program(self, request: Request) -> Caller | None:
        """Return the caller whose token the request carries, None if the token is not valid."""
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        token = self._rights.tokens.find(bearer.strip()) if scheme.lower() == "bearer" else None
        return None if token is None else Caller("", Way.PERSON, token.name, token)

    def _unknown(self, request: Request, *, programs: bool) -> Response:
        """Refuse an unknown caller, who sent no token or one that is not valid."""
        if not programs:
            return refuse(401, say("refusal.unknown"), details={"sign_in": self.signs_in})
        if request.headers.get("Authorization", "").partition(" ")[2].strip():
            response = refuse_at(request, 401, say("refusal.wrong_token"), "wrong_token")
        else:
            response = refuse_at(request, 401, say("refusal.no_token"), "no_token")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def _misdirected(self, request: Request) -> str:
        if not self.is_local(request) and _host(request) not in self._elsewhere:
            return say("refusal.address")
        origin = request.headers.get("Origin")
        if origin is not None and origin != (
            self._origin if _host(request) in self._elsewhere else f"http://{_host(request)}"
        ):
            return say("refusal.other_page")
        if request.scope["path"] != "/" and request.headers.get("Sec-Fetch-Site", "") not in OWN_FETCHES:
            return say("refusal.other_page")
        return ""

    async def caller(self, request: Request) -> Caller | None:
        """Return the caller of a request; None if it carries no valid token or session."""
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer" and self._on_this_machine(request) and self.is_start_token(bearer.strip()):
            return Caller("")
        for way, name in self._cookies.items():
            if way is Way.TOKEN and not self.is_local(request):
                continue
            if session := await self.sessions.use(request.cookies.get(name, ""), way):
                return self._signed_in(session, way)
        return None

    def _signed_in(self, session: str, way: Way) -> Caller | None:
        name = self.sessions.token_of(session)
        token = self._rights.tokens.named(name) if name else None
        if name and token is None:
            return None  # it was revoked a moment ago: now it belongs to nobody, and certainly not to the operator
        return Caller(session, way, name, None if token is None or token.for_operator else token)


FOR_PROGRAMS = re.compile(r"/(api/v1|v1|mcp)(/|$)")
"""Paths that programs use with a token; the page and the command line use the first one without."""
FOR_TOKENS_ALONE = ("/v1", "/mcp")
"""Paths for tokens only, because no page or command needs them."""


def remote_of(request: Request) -> str:
    """Return the network address of the client; "" if unknown."""
    return request.client.host if request.client is not None else ""


def _host(request: Request) -> str:
    return request.headers.get("Host", "")


def _passed_on(request: Request) -> bool:
    return any(PROXIED.fullmatch(name) for name in request.headers)


def _content_type(request: Request) -> str:
    return request.headers.get("Content-Type", "application/octet-stream").partition(";")[0].strip().lower()
