"""A stand-in for the embeddings API of OpenAI, on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SIZE = 8


@dataclass
class Embeddings:
    """What was asked of it in each call, and how it answers. Words of one line in `meanings` mean the same."""

    base_url: str = ""
    meanings: Sequence[Sequence[str]] = ()
    fault: str = ""
    """"slow", "refused", "busy", "nonsense", "fewer", "sizes" or "nan"; "" for the vectors."""
    asked: list[list[str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def vector(self, text: str) -> list[float]:
        """One place for each meaning; the last for a text that has none of them."""
        found = [float(any(word in text.lower() for word in words)) for words in self.meanings]
        return [*found, *[0.0] * (SIZE - 1 - len(found)), 0.0 if any(found) else 1.0]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked: Mapping[str, Any] = await request.json()
        texts = asked["input"]
        self.asked.append(texts)
        self.keys.append(request.headers.get("Authorization", ""))
        rows = [{"object": "embedding", "index": at, "embedding": self.vector(text)} for at, text in enumerate(texts)]
        match self.fault:
            case "slow":
                await asyncio.Event().wait()
            case "refused" | "busy":
                status, told = (401, "the key key-0123456 is wrong") if self.fault == "refused" else (429, "too many")
                return web.json_response({"error": {"message": told, "type": "x", "code": "y"}}, status=status)
            case "nonsense":
                return web.Response(text="<html>hello</html>", content_type="text/html")
            case "fewer":
                rows = rows[1:]
            case "sizes":
                rows[0]["embedding"] = [1.0]
            case "nan":
                rows[0]["embedding"] = [1e400] * SIZE
        # In another order, as the index says and not the place.
        return web.json_response({"object": "list", "model": asked["model"], "data": rows[::-1], "usage": {}})


@asynccontextmanager
async def embeddings(*meanings: Sequence[str]) -> AsyncIterator[Embeddings]:
    """The endpoint, until the block ends."""
    here = Embeddings(meanings=meanings)
    app = web.Application()
    app.router.add_post("/v1/embeddings", here.answer)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    here.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield here
    finally:
        await runner.cleanup()
