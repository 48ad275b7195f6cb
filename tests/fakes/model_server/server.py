"""An OpenAI-compatible endpoint on loopback that answers from a script and keeps what it was asked."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.fakes.model_server import chat, delivery, responses
from tests.fakes.model_server.accounting import Count, Meter
from tests.fakes.model_server.checks import lost_context, refusal
from tests.fakes.model_server.hearing import Ear
from tests.fakes.model_server.personalities import OPENAI, Personality
from tests.fakes.model_server.recorded import Recorded, parts_of
from tests.fakes.model_server.script import Deck, Script, refused

MAX_BODY = 64 * 1024 * 1024
"""Bytes of one request; a few screenshots fit."""


class ModelServer:
    """`async with ModelServer(script) as server:` then point a client at `server.base_url`.

    `requests` holds what arrived, refused requests included. `key` and `models` are checked when they are given.
    `listed` is what `GET /v1/models` answers; None where it has no list.
    `GET /requests` lists the same for a test in another process.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        personality: Personality = OPENAI,
        key: str = "",
        models: Iterable[str] = (),
        listed: object = None,
        port: int = 0,
    ) -> None:
        self.personality = personality
        self.requests: list[Recorded] = []
        self.store = responses.ResponseStore()
        self.deleted: list[str] = []
        self.unknown_paths: list[str] = []
        self.tokens = Count(0, 0)
        """Input tokens of all requests that the model saw."""
        self.ear = Ear(key)
        """What it hears and says of recordings."""
        self._listed = listed
        self._answer = script if callable(script) else Deck(script)
        self._key = key
        self._models = frozenset(models)
        self._meter = Meter()
        self._numbers = itertools.count(1)
        self._arrived = asyncio.Condition()
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_get("/requests", self._list)
        app.router.add_post("/v1/chat/completions", self._chat)
        if listed is not None:
            app.router.add_get("/v1/models", self._models_listed)
        app.router.add_post("/v1/audio/transcriptions", self.ear.transcribe)
        if personality.responses != "absent":
            app.router.add_post("/v1/responses", self._responses)
            app.router.add_delete("/v1/responses/{id}", self._delete)
        app.router.add_route("*", "/{path:.*}", self._unknown)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        self._port = port

    @property
    def base_url(self) -> str:
        """Where clients connect."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    async def arrived(self, count: int, timeout: float = 5.0) -> Recorded:
        """Wait until so many requests have arrived; the last of them."""
        async with asyncio.timeout(timeout), self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def forgotten(self, response: str, timeout: float = 5.0) -> None:
        """Wait until a client has deleted this stored response."""
        async with asyncio.timeout(timeout), self._arrived:
            await self._arrived.wait_for(lambda: response in self.deleted)

    async def _record(self, request: web.Request) -> Recorded:
        recorded = Recorded(request.method, request.path, dict(request.headers), await request.json())
        self.requests.append(recorded)
        async with self._arrived:
            self._arrived.notify_all()
        return recorded

    async def _models_listed(self, _: web.Request) -> web.Response:
        return web.json_response(self._listed)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        recorded = await self._record(request)
        if no := refusal(recorded, self.personality, self._key, self._models):
            return await delivery.fault(recorded, no)
        answer = self._answer(recorded)
        if delivery.is_fault(answer):
            return await delivery.fault(recorded, answer)
        number = next(self._numbers)
        block = chat.usage(answer, self._count(recorded.model, recorded.messages), self.personality)
        if not recorded.body.get("stream"):
            body = chat.whole(answer, recorded.model, number, block, self.personality)
            return await delivery.whole(request, recorded, answer, body)
        if not (recorded.body.get("stream_options") or {}).get("include_usage"):
            block = None
        pieces = chat.chunks(answer, recorded.model, number, block, self.personality)
        return await delivery.stream(request, recorded, answer, pieces, named=False)

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        recorded = await self._record(request)
        no = refusal(recorded, self.personality, self._key, self._models)
        if no := no or lost_context(recorded, self.personality, self.store):
            return await delivery.fault(recorded, no)
        previous = str(recorded.body.get("previous_response_id") or "")
        context = [*(self.store.context(previous) if previous in self.store else ()), *recorded.messages]
        if call := responses.unanswered_call(context):
            return await delivery.fault(recorded, refused(400, f"No tool output found for function call {call}."))
        answer = self._answer(recorded)
        if delivery.is_fault(answer):
            return await delivery.fault(recorded, answer)
        block = responses.usage(answer, self._count(recorded.model, context))
        continued = previous if previous in self.store else None
        body = responses.whole(answer, recorded.body, next(self._numbers), block, continued)
        if recorded.body.get("store", True) and self.personality.responses in {"stateful", "loses state"}:
            self.store.keep(body["id"], [*context, *body["output"]])
        if not recorded.body.get("stream"):
            return await delivery.whole(request, recorded, answer, body)
        return await delivery.stream(request, recorded, answer, responses.events(answer, body), named=True)

    async def _delete(self, request: web.Request) -> web.Response:
        response = request.match_info["id"]
        known = self.store.delete(response)
        self.deleted.append(response)
        async with self._arrived:
            self._arrived.notify_all()
        if not known:
            return web.json_response({"error": {"message": f"Response {response} not found."}}, status=404)
        return web.json_response({"id": response, "object": "response", "deleted": True})

    async def _unknown(self, request: web.Request) -> web.Response:
        self.unknown_paths.append(request.path)
        return web.json_response({"detail": "Not Found"}, status=404)

    async def _list(self, _: web.Request) -> web.Response:
        return web.json_response([recorded.as_json() for recorded in self.requests])

    def _count(self, model: str, messages: Iterable[dict[str, Any]]) -> Count:
        count = self._meter.count(model, (part for message in messages for part in parts_of(message)))
        self.tokens = Count(self.tokens.input + count.input, self.tokens.cached + count.cached)
        return count
