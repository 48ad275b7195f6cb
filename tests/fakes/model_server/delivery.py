"""Sends an answer the way it was scripted: whole, in pieces, broken, or never."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from tests.fakes.model_server.recorded import Recorded
from tests.fakes.model_server.script import Answer

BROKEN = {"message": "The server had an error while processing your request.", "code": "server_error"}


def is_fault(answer: Answer) -> bool:
    """Whether nothing of the answer itself is ever sent."""
    return answer.status != 200 or answer.garbage or answer.body is not None or answer.hang == "before"


async def fault(recorded: Recorded, answer: Answer) -> web.Response:
    """An error, something that is not the API, or silence."""
    if answer.hang:
        await _until_gone(recorded)
    recorded.status = answer.status
    if answer.garbage:
        return web.Response(text="<html><body>It works!</body></html>", content_type="text/html")
    headers = {"Retry-After": answer.retry_after} if answer.retry_after else {}
    if isinstance(answer.body, str):
        kind = "text/html" if answer.body.startswith("<") else "text/plain"
        return web.Response(text=answer.body, status=answer.status, headers=headers, content_type=kind)
    if answer.body is not None:
        return web.json_response(answer.body, status=answer.status, headers=headers)
    error = answer.error or {"message": f"Failed with {answer.status}.", "code": None, "param": None}
    return web.json_response({"error": error}, status=answer.status, headers=headers)


async def whole(request: web.Request, recorded: Recorded, answer: Answer, body: dict[str, Any]) -> web.StreamResponse:
    """One JSON document; a cut one breaks off in its middle."""
    if answer.hang:
        await _until_gone(recorded)
    recorded.status = 200
    if answer.cut_after is None:
        return web.json_response(body)
    text = json.dumps(body).encode()
    half = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(text))})
    await half.prepare(request)
    await half.write(text[: len(text) // 2])
    _cut(request)
    return half


async def stream(
    request: web.Request, recorded: Recorded, answer: Answer, pieces: Iterator[dict[str, Any]], *, named: bool
) -> web.StreamResponse:
    """Server-sent events; `named` ones carry their type as the event's name and end without [DONE]."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    recorded.status = 200
    await response.prepare(request)
    try:
        for index, piece in enumerate(pieces):
            if index == answer.cut_after:
                _cut(request)
                return response
            sent = (answer.event or {"error": answer.error or BROKEN}) if index == answer.break_after else piece
            head = f"event: {sent['type']}\n" if named and "type" in sent else ""
            await response.write(f"{head}data: {json.dumps(sent, ensure_ascii=False)}\n\n".encode())
            if answer.hang == "during":
                await _until_gone(recorded)
            if answer.pace:
                await asyncio.sleep(answer.pace)
        if not named:
            await response.write(b"data: [DONE]\n\n")
        recorded.answered = time.monotonic()
    except (asyncio.CancelledError, ConnectionError):
        recorded.gone.set()
        raise
    return response


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


async def _until_gone(recorded: Recorded) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        recorded.gone.set()
