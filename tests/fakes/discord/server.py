"""The fake itself: an aiohttp server on loopback that an unmodified discord.py talks to."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from io import BytesIO
from types import SimpleNamespace
from typing import Any, Self

from aiohttp import BodyPartReader, web
from simcord import BackendError
from simcord.backend import Backend
from simcord.backend.cdn import CDN_BASE
from simcord.http import router

from tests.fakes.discord import rules
from tests.fakes.discord.clock import RealClock
from tests.fakes.discord.gateway import Gateway
from tests.fakes.discord.limits import RateLimits
from tests.fakes.discord.people import People

TOKEN = "fake-discord-token-of-the-tests"
API = "/api/v10"
WAIT_SECONDS = 60.0


class FakeDiscord(People):
    """A Discord of our own. `api_base` is what a client needs, in this process or in another.

    `async with FakeDiscord() as fake:` starts it on a free port of loopback. `gaps` lists requests that the fake does
    not understand: a test that leaves one behind must fail.
    """

    def __init__(self) -> None:
        super().__init__(Backend(clock=RealClock()))
        self.limits = RateLimits()
        self.gateway = Gateway(self.backend, TOKEN, self._note)
        self.gateway.rewrite = self._rewrite
        self.gateway_questions = 0
        self.gaps: list[str] = []
        self.requests: list[tuple[str, str, Any]] = []
        self.callers: list[str] = []
        """By which name of this machine each request came: what tells clients with one token apart."""
        self.nonces: dict[tuple[int, str], int] = {}
        self.downloads: list[str] = []
        self.unreachable = False
        """While set, every request to the HTTP API finds nobody."""
        self.now: Callable[[], float] = time.monotonic
        self.posted: list[float] = []
        """When each message was sent or edited, by `now`."""
        self.files_moved_to = ""
        """Where the file server sends who asks for a file; "" for none."""
        self._changed = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._origin = ""

    @property
    def api_base(self) -> str:
        return f"{self._origin}{API}"

    @property
    def client_id(self) -> str:
        """The application that the token belongs to."""
        return str(self.backend.application_id)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/gateway", self.gateway.handle)
        app.router.add_get("/cdn/{path:.*}", self._download)
        app.router.add_route("*", API + "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self._origin = f"http://127.0.0.1:{port}"
        self.gateway.url = f"ws://127.0.0.1:{port}/gateway"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Go away: connections are closed, and new ones are refused."""
        self.gateway.accepting.set()
        await self.gateway.drop(code=1001)
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def wait_until(self, condition: Callable[[], object], *, timeout: float = WAIT_SECONDS) -> None:
        """Wait until `condition()` is true; it is looked at after every event, and every 20 ms for what is outside."""
        async with asyncio.timeout(timeout):
            while not condition():
                self._changed.clear()
                try:
                    async with asyncio.timeout(0.02):
                        await self._changed.wait()
                except TimeoutError:
                    continue

    async def connected(self) -> None:
        """Wait until a client is identified; what is said from now on reaches it."""
        await self.wait_until(lambda: self.gateway.connected)

    def fail(self, method: str, path: str, status: int, code: int, message: str = "refused", times: int = 1) -> None:
        """Answer the next `times` requests to `path` (a glob) with this error."""
        self.backend.faults.append(
            {"method": method, "path": path, "status": status, "code": code, "message": message, "times": times}
        )

    def sent(self, method: str, ending: str) -> list[Any]:
        """The bodies of the requests of that method whose path ends so."""
        return [body for verb, path, body in self.requests if verb == method and path.endswith(ending)]

    def _note(self) -> None:
        self._changed.set()

    def _rewrite(self, text: str) -> str:
        return text.replace(CDN_BASE, f"{self._origin}/cdn")

    async def _download(self, request: web.Request) -> web.Response:
        self.downloads.append(request.path)
        if self.files_moved_to:
            raise web.HTTPFound(self.files_moved_to)
        data = self.backend.cdn.get(f"{CDN_BASE}/{request.match_info['path']}")
        return web.Response(status=404) if data is None else web.Response(body=data)

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.path.removeprefix(API)
        self.callers.append(request.url.host or "")
        if self.unreachable and request.transport is not None:
            request.transport.close()
            return web.Response(status=503)
        if "/messages" in path and request.method in ("POST", "PATCH"):
            self.posted.append(self.now())
        open_to_all = path.startswith(("/interactions/", "/webhooks/", "/gateway"))
        if not open_to_all and request.headers.get("Authorization") != f"Bot {TOKEN}":
            return _json(401, {"message": "401: Unauthorized", "code": 0})
        headers, wait = self.limits.check(request.method, path)
        if wait is not None:
            refusal = {"message": "You are being rate limited.", "retry_after": wait, "global": False}
            # Without Via, discord.py takes a 429 for a ban by Cloudflare.
            return _json(429, refusal, {**headers, "Via": "1.1 google", "Retry-After": f"{wait:.3f}"})
        if path in ("/gateway", "/gateway/bot"):
            self.gateway_questions += 1
            session_limit = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
            return _json(200, {"url": self.gateway.url, "shards": 1, "session_start_limit": session_limit}, headers)
        body, files = await _read(request)
        self.requests.append((request.method, path, body))
        try:
            answer = self._dispatch(request, path, body, files)
        except (router.RouteNotImplemented, router.UnsupportedField) as gap:
            self.gaps.append(str(gap))
            return _json(501, gap.to_json())
        except BackendError as error:
            return _json(error.status, error.to_json(), headers)
        finally:
            self._note()
        if answer is None:
            return web.Response(status=204, headers=headers)
        text = self._rewrite(json.dumps(answer))
        return web.Response(body=text.encode(), content_type="application/json", headers=headers)

    def _dispatch(self, request: web.Request, path: str, body: object, files: list[SimpleNamespace]) -> object:
        plain = body if isinstance(body, dict) else {}
        rules.check(
            self.backend,
            request.method,
            path,
            plain,
            [file.fp.getvalue() for file in files],
            [str(file.filename) for file in files],
        )
        nonce = plain.get("nonce") if plain.get("enforce_nonce") else None
        key = (int(path.split("/")[2]), str(nonce)) if nonce and path.startswith("/channels/") else None
        if key is not None and key in self.nonces:
            again: object = router.dispatch(self.backend, "GET", f"/channels/{key[0]}/messages/{self.nonces[key]}")
            return again
        answer = router.dispatch(
            self.backend, request.method, path, json=body, params=dict(request.query), files=list(files)
        )
        if key is not None:
            self.nonces[key] = int(answer["id"])
        answered: object = answer
        return answered


def _json(status: int, body: object, headers: dict[str, str] | None = None) -> web.Response:
    # discord.py parses a body only when the type is exactly this, without a charset.
    return web.Response(
        status=status, body=json.dumps(body).encode(), content_type="application/json", headers=headers or {}
    )


async def _read(request: web.Request) -> tuple[Any, list[SimpleNamespace]]:
    """The JSON body and the uploaded files, from plain JSON or from a multipart form."""
    if not request.content_type.startswith("multipart/"):
        data = await request.read()
        return (json.loads(data) if data else None), []
    body: Any = None
    files: list[SimpleNamespace] = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            continue
        if part.name == "payload_json":
            body = json.loads(await part.text())
        else:
            data = bytes(await part.read())
            files.append(SimpleNamespace(fp=BytesIO(data), filename=part.filename, description=None))
    return body, files
