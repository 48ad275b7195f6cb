"""Runs virtual phones until Ctrl-C: starts them, prints their addresses, and connects an adb server to them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict

from aiohttp import web
from pydantic import ValidationError

from devices.adb import host
from devices.adb.server import ServerAddress, ensure_running
from devices.errors import PhoneError
from devices.virtual_phone.device import Device
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.options import LOCAL_ADB, density_for
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.scenario import HAPPENING, Moment

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """The control interface of one phone: HTTP on the loopback interface, for tests and tools in other processes.

    GET /truth, /journal, /frame.png, /faults, /moments; POST /faults, /happen, /moments with a JSON object; DELETE
    /moments.
    """

    def __init__(self, phone: Device) -> None:
        self._phone = phone
        self._runner: web.AppRunner | None = None
        self.url = ""
        """The URL on which it listens; "" before the start."""

    async def start(self, port: int = 0) -> None:
        """Start to listen on the loopback interface; port 0 takes any free one. Raises OSError when the port is
        taken.
        """
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
        self.url = f"http://{host}:{port}"

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _truth(self, _request: web.Request) -> web.Response:
        return web.json_response(asdict(self._phone.truth))

    async def _journal(self, request: web.Request) -> web.Response:
        """Return all journal entries; `?since=12` leaves out those up to number 12."""
        since = request.query.get("since", "0")
        if not (since.isascii() and since.isdigit()):
            raise web.HTTPBadRequest(text=f"since={since!r} is no number")
        entries = [asdict(entry) for entry in self._phone.journal.entries if entry.number > int(since)]
        return web.json_response(entries)  # it escapes lone surrogates: bytes that are no UTF-8

    async def _frame(self, _request: web.Request) -> web.Response:
        return web.Response(body=await self._phone.encoded(png=True), content_type="image/png")

    async def _read_faults(self, _request: web.Request) -> web.Response:
        return web.json_response(self._phone.faults.values())

    async def _faults(self, request: web.Request) -> web.Response:
        """Set faults. The body contains names and values of `Faults`, for example {"frame_ms": 300}."""
        values = await _json(request)
        try:
            self._phone.faults.set(**values)
        except ValueError as problem:
            raise web.HTTPBadRequest(text=str(problem)) from None
        return web.json_response({})

    async def _happen(self, request: web.Request) -> web.Response:
        """Carry out the scenario event in the body, such as {"do": "wake"}."""
        await happen(self._phone, HAPPENING.validate_python(await _json(request)))
        return web.json_response({})

    async def _moments(self, _request: web.Request) -> web.Response:
        return web.json_response([moment.model_dump(mode="json") for moment in self._phone.moments.waiting])

    async def _add_moment(self, request: web.Request) -> web.Response:
        """Add the `Moment` in the body, such as {"after": "input", "then": {"do": "sleep"}}."""
        self._phone.moments.add(Moment.model_validate(await _json(request)))
        return web.json_response({})

    async def _forget_moments(self, _request: web.Request) -> web.Response:
        self._phone.moments.clear()
        return web.json_response({})


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
    """Refuse requests of pages in a browser on this computer, which carry an Origin or another Host."""
    if "Origin" in request.headers or request.host.partition(":")[0] not in {"127.0.0.1", "localhost"}:
        raise web.HTTPForbidden(text="only tools on this machine may control the virtual phone")
    return await handler(request)


@web.middleware
async def _explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer an invalid object with 400 and what is wrong with it."""
    try:
        return await handler(request)
    except ValidationError as problem:
        said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problem.errors())
        raise web.HTTPBadRequest(text=said) from None


async def run(options: argparse.Namespace, *, adb: tuple[str, int] = LOCAL_ADB) -> None:
    """Run the phones that these options (see `add_options`) configure until SIGINT or SIGTERM or, for a service, until
    standard input closes.

    `adb` is the adb server (host, port) to connect unless the options name one. Raises OSError when a port is taken or
    the folder for the state cannot be used.
    """
    end = asyncio.Event()
    if options.until_input_closes:
        # Ctrl-C at the service's terminal comes here too, and the service has still to put its phones back.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _watch_input(end)
    else:
        with contextlib.suppress(NotImplementedError):  # on Windows, where Ctrl-C raises KeyboardInterrupt
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, end.set)
    async with AsyncExitStack() as stack:
        phones = [await _start(stack, options, number) for number in range(1, options.count + 1)]
        if not options.no_connect:
            server = ServerAddress(*(options.adb or adb))
            await _connect(server, phones)
            stack.push_async_callback(_disconnect, server, phones)
        if not options.json:
            _say("Ctrl-C ends the phones.")
        await end.wait()


async def _start(stack: AsyncExitStack, options: argparse.Namespace, number: int) -> VirtualPhone:
    name = f"virtual-{number}"
    phone = VirtualPhone(
        name,
        number=number,
        size=options.size,
        density=options.density or density_for(options.size),
        seed=options.seed,
        locale=options.language,
        dark=options.dark,
        faults=dict(options.fault),
        port=options.port + number - 1 if options.port else 0,
        state_file=options.state / f"{name}.json" if options.state else None,
    )
    await stack.enter_async_context(phone)
    control = Control(phone)
    await control.start(options.control_port + number - 1 if options.control_port else 0)
    stack.push_async_callback(control.stop)
    if options.json:
        _say(json.dumps({"name": phone.name, "address": phone.address, "control": control.url}))
    else:
        _say(f"{phone.name}: adb connect {phone.address}   control: {control.url}")
    return phone


async def _connect(server: ServerAddress, phones: list[VirtualPhone]) -> None:
    """Connect the adb server. If there is none, the phones run all the same, as another one may connect."""
    problem = ""
    try:
        await ensure_running(server)
        refused = [phone.address for phone in phones if not await host.connect(server, phone.address)]
        if refused:
            problem = f"The adb server at {server} does not connect to {', '.join(refused)}."
    except PhoneError as failure:
        problem = str(failure)
    if problem:
        sys.stderr.write(f"Not connected: {problem} The phones run; connect with the lines above.\n")


async def _disconnect(server: ServerAddress, phones: list[VirtualPhone]) -> None:
    """Disconnect the phones from the adb server, which would otherwise list them as offline."""
    with contextlib.suppress(PhoneError):
        for phone in phones:
            await host.ask(server, f"host:disconnect:{phone.address}")


def _watch_input(closed: asyncio.Event) -> None:
    """Set the event when standard input closes, as it does when the parent process ends.

    A thread reads it, since asyncio cannot wait for a file or /dev/null; it does not keep the process alive.
    """
    loop = asyncio.get_running_loop()

    def read() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        with contextlib.suppress(RuntimeError):  # the loop has ended first
            loop.call_soon_threadsafe(closed.set)

    threading.Thread(target=read, name="standard input", daemon=True).start()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
