"""The gateway: HELLO, IDENTIFY, READY, heartbeats, dispatch with sequence numbers, RESUME with replay."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import discord
from aiohttp import WSMsgType, web
from simcord import intents as rules
from simcord.backend import Backend, serializers

from tests.fakes.discord.compression import Compressor, compressor

HEARTBEAT_MILLISECONDS = 41_250
AUTHENTICATION_FAILED = 4004
DISALLOWED_INTENTS = 4014


@dataclass
class Session:
    """What RESUME needs: every event of a session, kept with its sequence number."""

    id: str
    intents: discord.Intents
    events: list[str] = field(default_factory=list)
    connection: Connection | None = None

    def dispatch(self, event: str, payload: Mapping[str, Any]) -> None:
        packet = json.dumps({"op": 0, "t": event, "s": len(self.events) + 1, "d": payload})
        self.events.append(packet)
        if self.connection is not None:
            self.connection.outgoing.put_nowait(packet)


class Connection:
    """One open socket. Packets leave in order through a queue, so that `emit` may stay synchronous."""

    def __init__(self, socket: web.WebSocketResponse, packer: Compressor) -> None:
        self.socket = socket
        self.outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._packer = packer

    async def pump(self) -> None:
        while True:
            packet = await self.outgoing.get()
            await self.socket.send_bytes(self._packer.pack(packet))

    def operation(self, op: int, data: object = None) -> None:
        self.outgoing.put_nowait(json.dumps({"op": op, "d": data}))


class Gateway:
    def __init__(self, backend: Backend, token: str, changed: Callable[[], None]) -> None:
        self._backend = backend
        self.token = token
        self._changed = changed
        self.url = ""
        self.rewrite: Callable[[str], str] = lambda text: text
        self.sessions: dict[str, Session] = {}
        self.identifies = 0
        self.resumes = 0
        self.most = 0
        """The sessions that were connected at one moment."""
        self.message_content_approved = True
        self.refuse_with: int | None = None
        self.odd_greetings = 0
        """So many sessions from now on begin with an event that no library understands."""
        self.accepting = asyncio.Event()
        self.accepting.set()
        backend.subscribers.append(self.emit)

    @property
    def connected(self) -> bool:
        return self.now > 0

    @property
    def now(self) -> int:
        """How many sessions are connected."""
        return sum(session.connection is not None for session in self.sessions.values())

    def emit(self, event: str, payload: Mapping[str, Any]) -> None:
        for session in self.sessions.values():
            self._deliver(session, event, payload)
        self._changed()

    def again(self, event: str, id_: int, **changes: str) -> None:
        """Dispatch the event about that object once more, as a gateway does that lost track, with these changes."""
        for session in self.sessions.values():
            packets = [json.loads(packet) for packet in session.events]
            told = next(p["d"] for p in packets if p["t"] == event and p["d"]["id"] == str(id_))
            session.dispatch(event, told | changes)

    def _deliver(self, session: Session, event: str, payload: Mapping[str, Any]) -> None:
        gate = rules.required_intent(event, payload)
        if gate is not None and not getattr(session.intents, gate):
            return
        own = copy.deepcopy(dict(payload))
        bot = self._backend.bot_user.id
        if event == "GUILD_CREATE":
            rules.prune_guild_create(own, session.intents, bot)
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE") and not session.intents.message_content:
            rules.censor_message(own, bot, backend=self._backend)
        session.dispatch(event, json.loads(self.rewrite(json.dumps(own))))

    async def drop(self, code: int = 4000) -> None:
        """Close every connection; sessions stay, so that a client may resume them."""
        for session in self.sessions.values():
            connection, session.connection = session.connection, None
            if connection is not None:
                await connection.socket.close(code=code)

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        await self.accepting.wait()
        connection = Connection(socket, compressor(request.query.get("compress", "")))
        pump = asyncio.create_task(connection.pump())
        connection.operation(10, {"heartbeat_interval": HEARTBEAT_MILLISECONDS})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    packet = json.loads(message.data)
                    await self._receive(connection, packet["op"], _mapping(packet.get("d")))
        finally:
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
            for session in self.sessions.values():
                if session.connection is connection:
                    session.connection = None
            self._changed()
        return socket

    async def _receive(self, connection: Connection, op: int, data: Mapping[str, Any]) -> None:
        if op == 1:
            connection.operation(11)
        elif op == 2:
            await self._identify(connection, data)
        elif op == 6:
            await self._resume(connection, data)
        self.most = max(self.most, self.now)
        self._changed()

    async def _identify(self, connection: Connection, data: Mapping[str, Any]) -> None:
        self.identifies += 1
        intents = discord.Intents._from_value(int(data["intents"]))
        if data["token"] != self.token:
            await connection.socket.close(code=AUTHENTICATION_FAILED)
            return
        if intents.message_content and not self.message_content_approved:
            await connection.socket.close(code=DISALLOWED_INTENTS)
            return
        if self.refuse_with is not None:
            await connection.socket.close(code=self.refuse_with)
            return
        session = Session(id=f"session-{self.identifies}", intents=intents, connection=connection)
        guilds = list(self._backend.guilds.values())
        session.dispatch(
            "READY",
            {
                "v": 10,
                "user": dict(serializers.user_payload(self._backend.bot_user)),
                "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
                "session_id": session.id,
                "resume_gateway_url": self.url,
                "application": {"id": str(self._backend.application_id), "flags": 0},
            },
        )
        for guild in guilds:
            self._deliver(session, "GUILD_CREATE", serializers.guild_create_payload(self._backend, guild))
        if self.odd_greetings:
            self.odd_greetings -= 1
            session.dispatch("INTERACTION_CREATE", {"type": 3})
        self.sessions[session.id] = session

    async def _resume(self, connection: Connection, data: Mapping[str, Any]) -> None:
        session = self.sessions.get(data["session_id"])
        if session is None:
            connection.operation(9, data=False)
            return
        self.resumes += 1
        session.connection = connection
        for packet in session.events[int(data["seq"]) :]:
            connection.outgoing.put_nowait(packet)
        session.dispatch("RESUMED", {})


def _mapping(data: object) -> Mapping[str, Any]:
    """Heartbeats carry a bare number; nobody looks at it."""
    return data if isinstance(data, dict) else {}
