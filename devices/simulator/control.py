"""A control interface over HTTP on loopback, for tests and tools in another process.

GET /truth, /journal, /frame.png; POST /faults, /screen, /link with a JSON object.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from aiohttp import web

from devices.simulator.adbd import LinkState

if TYPE_CHECKING:
    from devices.simulator.phone import VirtualPhone

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """Serves one phone."""

    def __init__(self, phone: VirtualPhone) -> None:
        self._phone = phone
        self._runner: web.AppRunner | None = None
        self._url = ""

    @property
    def url(self) -> str:
        """Where it listens; empty before the start."""
        return self._url

    async def start(self) -> None:
        """Listens on any free port of loopback."""
        application = web.Application(middlewares=[_refuse_strangers])
        application.add_routes(
            [
                web.get("/truth", self._truth),
                web.get("/journal", self._journal),
                web.get("/frame.png", self._frame),
                web.post("/faults", self._faults),
                web.post("/screen", self._screen),
                web.post("/link", self._link),
            ]
        )
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self._url = f"http://{host}:{port}"

    async def stop(self) -> None:
        """Stops listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _truth(self, _request: web.Request) -> web.Response:
        return web.json_response(asdict(self._phone.truth))

    async def _journal(self, _request: web.Request) -> web.Response:
        return web.json_response([asdict(entry) for entry in self._phone.journal.entries], dumps=_dumps)

    async def _frame(self, _request: web.Request) -> web.Response:
        return web.Response(body=await self._phone.encoded(png=True), content_type="image/png")

    async def _faults(self, request: web.Request) -> web.Response:
        """Names and values of `Faults`, for example {"frame_ms": 300}."""
        values = await _json(request)
        try:
            self._phone.faults.set(**values)
        except ValueError as problem:
            raise web.HTTPBadRequest(text=str(problem)) from None
        return web.json_response({})

    async def _screen(self, request: web.Request) -> web.Response:
        """{"do": "wake" | "sleep" | "lock" | "unlock" | "rotate" | "pop_up", …}."""
        values = await _json(request)
        phone = self._phone
        match values:
            case {"do": "wake"}:
                phone.desk.wake()
            case {"do": "sleep"}:
                phone.desk.sleep()
            case {"do": "lock", **rest}:
                pin = rest.get("pin")
                phone.desk.lock(pin if isinstance(pin, str) else None)
            case {"do": "unlock"}:
                phone.state.locked = phone.state.asking_pin = False
            case {"do": "rotate", "rotation": int(rotation)} if rotation in range(4):
                phone.rotate(rotation)
            case {"do": "pop_up", "title": str(title), **rest}:
                buttons = rest.get("buttons", ["OK"])
                names = tuple(map(str, buttons)) if isinstance(buttons, list) else ("OK",)
                phone.pop_up(title, str(rest.get("text", "")), names or ("OK",))
            case _:
                raise web.HTTPBadRequest(text=f"unknown screen change {values!r}")
        phone.changed()
        return web.json_response({})

    async def _link(self, request: web.Request) -> web.Response:
        """{"state": "open" | "unauthorized" | "offline" | "gone"} or {"drop": seconds}."""
        match await _json(request):
            case {"drop": int(seconds) | float(seconds)}:
                await self._phone.drop_link(seconds)
            case {"state": str(state)} if state in set(LinkState):
                await self._phone.set_link(LinkState(state))
            case other:
                raise web.HTTPBadRequest(text=f"unknown link change {other!r}")
        return web.json_response({})


def _dumps(value: object) -> str:
    """JSON of text that may hold bytes that are no UTF-8 (kept as lone surrogates)."""
    return json.dumps(value, ensure_ascii=True)


async def _json(request: web.Request) -> dict[str, object]:
    try:
        value = await request.json()
    except json.JSONDecodeError:
        raise web.HTTPBadRequest(text="the body is not JSON") from None
    if not isinstance(value, dict):
        raise web.HTTPBadRequest(text="the body is no JSON object")
    return value


@web.middleware
async def _refuse_strangers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A page in a browser on this machine must not reach a phone: its requests carry an Origin or another Host."""
    if "Origin" in request.headers or request.host.partition(":")[0] not in {"127.0.0.1", "localhost"}:
        raise web.HTTPForbidden(text="only tools on this machine may control the virtual phone")
    return await handler(request)
