"""Socket Mode: envelopes over a WebSocket, told again until they are acknowledged."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

from aiohttp import WSMsgType, web

Envelope = dict[str, Any]


class Sockets:
    """All connections of the app. What happens while there is none is told when there is one, as a retry."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._open: list[web.WebSocketResponse] = []
        self._numbers = itertools.count(1)
        self._sending: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.most_at_once = 0
        self.by_oldest = False
        """Whether envelopes go over the oldest connection, as those may that were on the way there."""
        self.waiting: dict[str, Envelope] = {}
        """Envelopes that were not acknowledged yet."""
        self.told: list[Envelope] = []
        """Every envelope that was made."""

    @property
    def connected(self) -> bool:
        return any(not socket.closed for socket in self._open)

    @property
    def open(self) -> int:
        return len(self._open)

    async def close_oldest(self) -> None:
        """Close the connection that another one has replaced, as Slack does some seconds after it has said so."""
        self.by_oldest = False
        await asyncio.gather(*self._sending)
        await self._open[0].close()

    def put(self, kind: str, payload: dict[str, Any]) -> Envelope:
        """Tell the app."""
        envelope: Envelope = {"envelope_id": f"e{next(self._numbers)}", "type": kind, "payload": payload}
        envelope["accepts_response_payload"] = kind != "events_api"
        if kind == "events_api":
            envelope |= {"retry_attempt": 0, "retry_reason": ""}
        self.told.append(envelope)
        self.waiting[envelope["envelope_id"]] = envelope
        self.send(envelope)
        return envelope

    def send(self, what: Envelope) -> None:
        """Send this over one connection, whatever it is."""
        for socket in self._open[:1] if self.by_oldest else self._open[-1:]:
            task = asyncio.create_task(socket.send_str(json.dumps(what)))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def drop(self) -> None:
        """Every connection breaks off."""
        sockets, self._open = self._open, []
        for socket in sockets:
            await socket.close()
        self._changed()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._open.append(socket)
        self.most_at_once = max(self.most_at_once, len(self._open))
        self.connections += 1
        await socket.send_str(json.dumps({"type": "hello", "num_connections": 1}))
        for envelope in [*self.waiting.values()]:
            if envelope["type"] == "events_api":
                envelope |= {"retry_attempt": envelope["retry_attempt"] + 1, "retry_reason": "timeout"}
                await socket.send_str(json.dumps(envelope))
        self._changed()
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self.waiting.pop(json.loads(message.data).get("envelope_id"), None)
                self._changed()
        if socket in self._open:
            self._open.remove(socket)
        self._changed()
        return socket
