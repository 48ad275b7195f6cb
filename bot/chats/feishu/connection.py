"""The long connection to Feishu: an outgoing WebSocket that delivers events and takes the answers to them, each wrapped
in a frame of Protocol Buffers.

The fields are those of the official client (larksuite/oapi-sdk-python, lark_oapi/ws/pb/pbbp2.proto, MIT). That client
is not used: it takes seconds and 160 MB to import, has no time limits, blocks and never ends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import aiohttp
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, EncodeError

from bot.chats.connection import end
from bot.chats.feishu import limits
from bot.chats.feishu.api import Api, Unusable
from bot.chats.feishu.limits import Times
from bot.chats.incoming import NotAccepted
from bot.domain.chat import ChatError, FloodWait
from devices.recent import Recent

logger = logging.getLogger(__name__)


class Method(IntEnum):
    """The purpose of a frame."""

    CONTROL = 0
    """Pings, and their answers with the connection's settings."""
    DATA = 1
    """An event, or the answer to one."""


_FIELDS: Final = descriptor_pb2.FieldDescriptorProto
_ONE: Final = _FIELDS.LABEL_REQUIRED
_HEADER: Final = (("key", _FIELDS.TYPE_STRING, _ONE), ("value", _FIELDS.TYPE_STRING, _ONE))
_FRAME: Final = (
    ("SeqID", _FIELDS.TYPE_UINT64, _ONE),
    ("LogID", _FIELDS.TYPE_UINT64, _ONE),
    ("service", _FIELDS.TYPE_INT32, _ONE),
    ("method", _FIELDS.TYPE_INT32, _ONE),
    ("headers", _FIELDS.TYPE_MESSAGE, _FIELDS.LABEL_REPEATED),
    ("payload_encoding", _FIELDS.TYPE_STRING, _FIELDS.LABEL_OPTIONAL),
    ("payload_type", _FIELDS.TYPE_STRING, _FIELDS.LABEL_OPTIONAL),
    ("payload", _FIELDS.TYPE_BYTES, _FIELDS.LABEL_OPTIONAL),
    ("LogIDNew", _FIELDS.TYPE_STRING, _FIELDS.LABEL_OPTIONAL),
)


def _frame_class() -> Any:  # noqa: ANN401 - made while the program runs
    file = descriptor_pb2.FileDescriptorProto(name="pbbp2.proto", package="pbbp2", syntax="proto2")
    for name, fields in (("Header", _HEADER), ("Frame", _FRAME)):
        message = file.message_type.add(name=name)
        for number, (called, kind, label) in enumerate(fields, 1):
            made = message.field.add(name=called, number=number, type=kind, label=label)
            if kind == _FIELDS.TYPE_MESSAGE:
                made.type_name = ".pbbp2.Header"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pbbp2.Frame"))


_Wire: Final = _frame_class()


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. The official client's `lark_oapi/ws/const.py` documents the headers."""

    method: Method
    service: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    payload: bytes = field(default=b"", repr=False)
    sequence: int = 0
    log: int = 0

    @classmethod
    def parse(cls, data: bytes) -> Frame:
        """Decode a frame. Raises ValueError if the bytes are not one."""
        wire = _Wire()
        try:
            wire.ParseFromString(data)
            method = Method(wire.method)
        except (DecodeError, ValueError):
            raise ValueError("no frame of the long connection") from None
        headers = {header.key: header.value for header in wire.headers}
        return cls(method, wire.service, headers, wire.payload, wire.SeqID, wire.LogID)

    def serialize(self) -> bytes:
        """Encode the frame. Raises ValueError for numbers that do not fit."""
        try:
            wire = _Wire(SeqID=self.sequence, LogID=self.log, service=self.service, method=int(self.method))
            for key, value in self.headers.items():
                wire.headers.add(key=key, value=value)
            if self.payload:
                wire.payload = self.payload
            data: bytes = wire.SerializeToString()
        except (EncodeError, ValueError):
            raise ValueError("no frame of the long connection") from None
        return data


Handle = Callable[[bytes], Awaitable[dict[str, Any] | None]]
"""Handles an event in JSON within `Times.answer` and returns the content of its answer, or None. Raises NotAccepted if
Feishu must deliver the event again.
"""

_OPEN_SECONDS: Final = 20.0
_CLOSE_SECONDS: Final = 2.0
"""Seconds that opening and closing may take; our choice."""


class LongConnection:
    """Keeps one WebSocket to Feishu open and passes on each complete event, in the order of arrival."""

    def __init__(self, api: Api, handle: Handle, times: Times) -> None:
        self._api = api
        self._handle = handle
        self._times = times
        self._ping = limits.PING_SECONDS
        self._parts: Recent[str, dict[int, bytes]] = Recent(limits.AT_ONCE)
        self._background_tasks: set[asyncio.Task[None]] = set()
        self.connected = False

    async def run(self) -> None:
        """Stay connected until cancelled, waiting while Feishu is unreachable. Raises Unusable."""
        pause = self._times.first_retry
        try:
            while True:
                silence = 0.0
                try:
                    if await self._once():
                        pause = self._times.first_retry
                    why = "it ended"
                except Unusable:
                    raise
                except aiohttp.WSServerHandshakeError as refused:
                    # The error's own text contains the address with a ticket.
                    told = "" if refused.headers is None else refused.headers.get("Handshake-Msg", "")
                    why = f"refused with status {refused.status}: {told[:200]!r}"
                except (ChatError, FloodWait, aiohttp.ClientError, OSError, TimeoutError, ValueError) as away:
                    why = str(away) if isinstance(away, ChatError | FloodWait) else type(away).__name__
                    silence = away.seconds if isinstance(away, FloodWait) else 0.0
                wait = max(silence, pause * random.uniform(0.8, 1.2))  # noqa: S311 - spreads reconnects, guards nothing
                logger.warning("Feishu: no long connection (%s); next attempt in %.1f s.", why, wait)
                await asyncio.sleep(wait)
                pause = min(pause * 2, self._times.last_retry)
        finally:
            await end(self._background_tasks, _CLOSE_SECONDS)

    async def _once(self) -> bool:
        """Run one connection to its end; return whether anything was received."""
        found = await self._api.endpoint()
        address = str(found.get("URL", ""))
        secure = self._api.root.startswith("https://")
        if not address.startswith("wss://" if secure else ("ws://", "wss://")):
            raise ValueError("no address of a WebSocket")
        self._configure(found.get("ClientConfig"))
        service = int(parse_qs(urlsplit(address).query).get("service_id", ["0"])[0])
        async with asyncio.timeout(_OPEN_SECONDS):
            socket = await self._api.session.ws_connect(
                address,
                timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_SECONDS),
                max_msg_size=limits.ANSWER_BYTES,
            )
        pinging = asyncio.create_task(self._keep_pinging(socket, service))
        self.connected, heard = True, False
        logger.info("Feishu: the long connection is open.")
        try:
            while True:
                try:
                    message = await socket.receive(timeout=2 * self._ping + self._times.pong)
                except TimeoutError:
                    logger.info("Feishu: the long connection was silent for too long.")
                    return heard
                if message.type is not aiohttp.WSMsgType.BINARY:
                    return heard
                heard = True
                await self._take(message.data, socket)
        finally:
            self.connected = False
            pinging.cancel()
            await asyncio.wait({pinging})
            await socket.close()

    async def _keep_pinging(self, socket: aiohttp.ClientWebSocketResponse, service: int) -> None:
        ping = Frame(Method.CONTROL, service, {"type": "ping"}).serialize()
        while True:
            await self._send(socket, ping)
            await asyncio.sleep(self._ping)

    async def _take(self, data: bytes, socket: aiohttp.ClientWebSocketResponse) -> None:
        try:
            frame = Frame.parse(data)
            if frame.method is Method.CONTROL:
                if frame.headers.get("type") == "pong" and frame.payload:
                    self._configure(json.loads(frame.payload))
                return
            payload = self._whole(frame)
        except (ValueError, RecursionError) as odd:
            logger.warning("A frame from Feishu could not be decoded and was ignored: %s", type(odd).__name__)
            return
        if payload is None or frame.headers.get("type") != "event":
            return
        if len(self._background_tasks) >= limits.AT_ONCE:
            await asyncio.wait(self._background_tasks, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._answer(frame, payload, socket))
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)
        await asyncio.wait({task}, timeout=limits.ORDER_SECONDS)

    async def _answer(self, frame: Frame, payload: bytes, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Handle an event and acknowledge it even if that fails, because Feishu would deliver it again and again. An
        event that was not accepted is not acknowledged, so that Feishu delivers it again.
        """
        found = None
        try:
            found = await self._handle(payload)
        except NotAccepted:
            logger.info("An event from Feishu is not answered, so that it comes again: the record does not answer.")
            return
        except Exception:
            logger.exception("An event from Feishu was lost because of a fault in the program")
        answer: dict[str, Any] = {"code": HTTPStatus.OK.value}
        if found is not None:
            answer["data"] = base64.b64encode(json.dumps(found).encode()).decode()
        await self._send(socket, replace(frame, payload=json.dumps(answer).encode()).serialize())

    async def _send(self, socket: aiohttp.ClientWebSocketResponse, data: bytes) -> None:
        try:
            await socket.send_bytes(data)
        except (aiohttp.ClientError, OSError):
            logger.debug("The long connection ended before a frame was sent.")

    def _whole(self, frame: Frame) -> bytes | None:
        """Return the complete event, None while parts are missing. Raises ValueError."""
        number, total = int(frame.headers.get("seq", "0")), int(frame.headers.get("sum", "1"))
        if total <= 1:
            return frame.payload
        if total > limits.FRAME_PARTS or not 0 <= number < total:
            raise ValueError("a part that cannot be")
        name = frame.headers.get("message_id", "")
        parts = self._parts.get(name) or {}
        parts[number] = frame.payload
        if len(parts) < total:
            self._parts[name] = parts
            return None
        self._parts.pop(name, None)
        return b"".join(parts[one] for one in range(total))

    def _configure(self, told: object) -> None:
        """Adopt Feishu's ping interval; the pauses between attempts to connect are our own."""
        pause = told.get("PingInterval") if isinstance(told, dict) else None
        if isinstance(pause, int | float) and pause > 0:
            self._ping = min(float(pause), limits.PING_SECONDS)
