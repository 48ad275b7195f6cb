"""The long connection's other end: hands out addresses, brings events, and takes their answers."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.fakes.feishu.wire import WireFrame

SERVICE = 33554678


@dataclass
class Gateway:
    """`pending` are events without an answer: they come again with each new connection, as there after some seconds."""

    note: Callable[[], None]
    url: str = ""
    tickets: set[str] = field(default_factory=set)
    sockets: list[web.WebSocketResponse] = field(default_factory=list)
    pending: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What events were answered with, by their id."""
    pings: int = 0
    opened: int = 0
    refused: int = 0
    refusal: tuple[int, str] | None = None
    """Status and message that connecting is refused with."""
    silent: bool = False
    """Whether pings are not answered."""
    parts: int = 1
    """Frames that each event comes in."""
    ping_interval: int = 120
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def address(self) -> dict[str, Any]:
        """What is told to who asks where to connect."""
        ticket = f"ticket-{next(self._numbers)}-secret"
        self.tickets.add(ticket)
        config = {"ReconnectCount": -1, "ReconnectInterval": 120, "ReconnectNonce": 30}
        return {
            "URL": f"{self.url}?device_id=1&service_id={SERVICE}&access_key=key-secret&ticket={ticket}",
            "ClientConfig": {**config, "PingInterval": self.ping_interval},
        }

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self.refusal is not None or request.query.get("ticket") not in self.tickets:
            self.refused += 1
            status, message = self.refusal or (514, "auth failed")
            headers = {"Handshake-Status": str(status), "Handshake-Msg": message, "Handshake-Autherrcode": "1000040346"}
            return web.Response(status=400, headers=headers)
        self.tickets.discard(request.query["ticket"])
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets.append(socket)
        self.opened += 1
        self.note()
        for event in list(self.pending.values()):
            await self._send(socket, event)
        try:
            async for came in socket:
                if came.type is WSMsgType.BINARY:
                    await self._take(WireFrame.decode(came.data), socket)
        finally:
            self.sockets.remove(socket)
            self.note()
        return socket

    async def deliver(self, event: dict[str, Any]) -> None:
        """Bring an event; it waits while nobody is connected."""
        self.pending[event["header"]["event_id"]] = event
        if self.sockets:
            await self._send(self.sockets[0], event)

    async def again(self, event: dict[str, Any]) -> None:
        """Bring it once more, whatever was answered."""
        await self._send(self.sockets[0], event)

    async def send_bytes(self, data: bytes) -> None:
        await self.sockets[0].send_bytes(data)

    async def drop(self) -> None:
        """Close all connections."""
        for socket in list(self.sockets):
            await socket.close()

    async def _send(self, socket: web.WebSocketResponse, event: dict[str, Any]) -> None:
        whole = json.dumps(event).encode()
        size = -(-len(whole) // self.parts)
        for number in range(self.parts):
            headers = {
                "type": "event",
                "message_id": event["header"]["event_id"],
                "trace_id": "trace",
                "sum": str(self.parts),
                "seq": str(number),
            }
            piece = whole[number * size : (number + 1) * size]
            await socket.send_bytes(WireFrame(1, headers, piece, SERVICE, 1, 2).encode())

    async def _take(self, frame: WireFrame, socket: web.WebSocketResponse) -> None:
        assert frame.service == SERVICE
        if frame.method == 0:
            assert frame.headers["type"] == "ping"
            self.pings += 1
            if not self.silent:
                payload = json.dumps({"PingInterval": self.ping_interval}).encode()
                await socket.send_bytes(WireFrame(0, {"type": "pong"}, payload, SERVICE).encode())
        else:
            assert (frame.sequence, frame.log) == (1, 2)
            answer = json.loads(frame.payload)
            event = frame.headers["message_id"]
            if answer["code"] == 200:
                self.pending.pop(event, None)
            data = answer.get("data")
            self.answers[event] = json.loads(base64.b64decode(data)) if data else {}
        self.note()
