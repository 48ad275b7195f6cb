"""A control interface over HTTP on loopback, for tests and tools in another process.

GET /truth, /journal, /frame.png, /faults, /moments; POST /faults, /happen, /moments with a JSON object;
DELETE /moments.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from aiohttp import web
from pydantic import ValidationError

from devices.virtual_phone.device import Device
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.scenario import HAPPENING, Moment

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """Serves one phone."""

    def __init__(self, phone: Device) -> None:
        self._phone = phone
        self._runner: web.AppRunner | None = None
        self._url = ""

    @property
    def url(self) -> str:
        """Where it listens; empty before the start."""
        return self._url

    async def start(self, port: int = 0) -> None:
        """Listens on loopback; port 0 takes any free one. Raises OSError when the port is taken."""
        application = web.Application(middlewares=[_refuse_strangers, _explain])
        application.add_routes(
            [
                web.get("/truth", self._truth),
                web.get("/journal", self._journal),
                web.get("/frame.png", self._frame),
                web.post("/faults", self._faults),
                web.get("/faults", self._read_faults),
                web.post("/happen", self._happen),
                web.get("/moments", self._moments),
                web.post("/moments", self._add_moment),
                web.delete("/moments", self._forget_moments),
            ]
        )
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        host, port = self._runner.addresses[0][:2]
        self._url = f"http://{host}:{port}"

    async def stop(self) -> None:
        """Stops listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _truth(self, _request: web.Request) -> web.Response:
        return web.json_response(asdict(self._phone.truth))

    async def _journal(self, request: web.Request) -> web.Response:
        """All entries; `?since=12` leaves out those up to number 12."""
        since = request.query.get("since", "0")
        if not (since.isascii() and since.isdigit()):
            raise web.HTTPBadRequest(text=f"since={since!r} is no number")
        entries = [asdict(entry) for entry in self._phone.journal.entries if entry.number > int(since)]
        return web.json_response(entries, dumps=_dumps)

    async def _frame(self, _request: web.Request) -> web.Response:
        return web.Response(body=await self._phone.encoded(png=True), content_type="image/png")

    async def _read_faults(self, _request: web.Request) -> web.Response:
        return web.json_response(self._phone.faults.values())

    async def _faults(self, request: web.Request) -> web.Response:
        """Names and values of `Faults`, for example {"frame_ms": 300}."""
        values = await _json(request)
        try:
            self._phone.faults.set(**values)
        except ValueError as problem:
            raise web.HTTPBadRequest(text=str(problem)) from None
        return web.json_response({})

    async def _happen(self, request: web.Request) -> web.Response:
        """One of `happenings`, such as {"do": "wake"}."""
        await happen(self._phone, HAPPENING.validate_python(await _json(request)))
        return web.json_response({})

    async def _moments(self, _request: web.Request) -> web.Response:
        return web.json_response([moment.model_dump(mode="json") for moment in self._phone.moments.waiting])

    async def _add_moment(self, request: web.Request) -> web.Response:
        """A `Moment`, such as {"after": "input", "then": {"do": "sleep"}}."""
        self._phone.moments.add(Moment.model_validate(await _json(request)))
        return web.json_response({})

    async def _forget_moments(self, _request: web.Request) -> web.Response:
        self._phone.moments.clear()
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


@web.middleware
async def _explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """An object that does not fit is answered with 400 and what is wrong with it."""
    try:
        return await handler(request)
    except ValidationError as problem:
        said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problem.errors())
        raise web.HTTPBadRequest(text=said) from None
