"""The fake itself: an aiohttp server on loopback that an unmodified python-telegram-bot talks to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Self

from aiohttp import web

from tests.fakes.telegram.faults import Fault, Faults
from tests.fakes.telegram.people import People
from tests.fakes.telegram.rates import Rates
from tests.fakes.telegram.refusals import Refused
from tests.fakes.telegram.world import User

TOKEN = "700000001:AAfake-telegram-token-of-the-tests_1"
WAIT_SECONDS = 60.0


class FakeTelegram(People):
    """A Telegram of our own. `base_url` is its root, as TELEGRAM_BASE_URL takes it, in this process or in another.

    `async with FakeTelegram() as fake:` starts it on a free port of loopback. `gaps` lists methods that the fake does
    not know: a test that leaves one behind must fail.
    """

    def __init__(self) -> None:
        super().__init__(User(700000001, "Opengui", "opengui_test_bot", bot=True), self._note)
        self.faults = Faults()
        self.rates: Rates | None = None
        self.token = TOKEN
        self.gaps: list[str] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        """Every request but polls: the method and its fields, files as their names."""
        self.callers: list[str] = []
        """By which name of this machine each request came, polls too: what tells clients with one token apart."""
        self.base_url = ""
        self._news = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/bot{token}/{method}", self._answer)
        app.router.add_get("/file/bot{token}/{kind}/{file}", self._download)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Go away: connections are closed, and new ones are refused."""
        self.polling.hearing.set()
        await self.webhooks.stop()
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def wait_until(self, condition: Callable[[], object], *, timeout: float = WAIT_SECONDS) -> None:
        """Wait until `condition()` is true; it is looked at after every event, and every 20 ms for what is outside."""
        async with asyncio.timeout(timeout):
            while not condition():
                self._news.clear()
                try:
                    async with asyncio.timeout(0.02):
                        await self._news.wait()
                except TimeoutError:
                    continue

    async def connected(self) -> None:
        """Wait until somebody polls; what is said from now on arrives at once."""
        await self.wait_until(lambda: self.polling.now)

    async def settled(self) -> None:
        """Wait until everything that was said is confirmed by the poller."""
        await self.wait_until(lambda: not self.polling.queue)

    def called(self, method: str) -> list[dict[str, Any]]:
        """The fields of each call of a method."""
        return [fields for name, fields in self.calls if name == method]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        self.callers.append(request.url.host or "")
        form: dict[str, Any] = {**request.query, **await request.post()}
        try:
            return await self._result(request, method, form)
        except Refused as refused:
            return web.json_response(refused.payload(), status=refused.code)
        finally:
            self._note()

    async def _result(self, request: web.Request, method: str, form: dict[str, Any]) -> web.Response:
        if request.match_info["token"] != self.token:
            raise Refused(401, "Unauthorized")
        if method != "getUpdates":
            self.calls.append((method, {name: getattr(value, "filename", value) for name, value in form.items()}))
        if early := self._faulty(request, self.faults.take(method)):
            return early
        await self.faults.let_pass(form)
        if self.rates is not None:
            self.rates.take(method, form)
        known = self.methods.table().get(method) if method != "getUpdates" else self.polling.get
        if known is None:
            self.gaps.append(method)
            raise Refused(404, "Not Found")
        answer = _ok(await known(form))
        return self._faulty(request, self.faults.take(method, after=True)) or answer

    def _faulty(self, request: web.Request, fault: Fault | None) -> web.Response | None:
        if fault is None:
            return None
        if fault.refusal is None:
            if request.transport is not None:
                request.transport.close()
            return web.Response()
        if fault.page:
            return web.Response(status=fault.refusal.code, text=fault.page, content_type="text/html")
        raise fault.refusal

    async def _download(self, request: web.Request) -> web.StreamResponse:
        file = self.world.files.get(request.match_info["file"])
        if early := self._faulty(request, self.faults.take("download")):
            return early
        if request.match_info["token"] != self.token or file is None:
            raise web.HTTPNotFound
        return web.Response(body=file.data)

    def _note(self) -> None:
        self._news.set()


def _ok(result: Any) -> web.Response:
    return web.json_response({"ok": True, "result": result})
