"""The toy platform itself: people, chats and messages in memory, behind one port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.toy_platform.wire import LONGEST, Line, read, write

TOKEN = "a-token-in-a-form-of-its-own"
SESSION = "toy-session-0123456789"


@dataclass
class ToyServer:
    address: str = ""
    messages: dict[str, Line] = field(default_factory=dict)
    """By id, in order, as they stand there now: chat, text, buttons, files, ring, nonce, author."""
    lost: set[str] = field(default_factory=set)
    """Chats that are not there any more."""
    flood: float = 0
    """Seconds that the next call has to wait."""
    _number: int = 0
    _connected: asyncio.StreamWriter | None = None
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def of_bot(self, chat: str) -> list[Line]:
        return [one for one in self.messages.values() if one["chat"] == chat and not one["author"]]

    def says(self, person: str, text: str, chat: str = "", *, by: str = "") -> None:
        """Somebody writes, in private without a `chat`, or passes on what is written `by` another."""
        chat = chat or person
        message = self._keep({"chat": chat, "text": text, "author": person})
        self._tell({"person": person, "chat": chat, "text": text, "message": message, "by": by})

    def presses(self, person: str, message: str, data: str) -> None:
        """Somebody presses a button."""
        chat = self.messages[message]["chat"]
        self._number += 1
        self._tell({"person": person, "chat": chat, "press": data, "message": message, "id": f"p{self._number}"})

    async def until(self, ready: Callable[[], object], timeout: float = 60.0) -> None:
        """Returns as soon as it is so; looked at after each call of the bot."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(lambda: bool(ready()))

    def _tell(self, event: Line) -> None:
        assert self._connected is not None
        write(self._connected, {"event": event})

    def _keep(self, message: Line) -> str:
        self._number += 1
        self.messages[f"m{self._number}"] = message
        return f"m{self._number}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (line := await read(reader)) is not None:
                if line["do"] == "login" and line["stay"] and line["token"] == TOKEN:
                    self._connected = writer
                write(writer, {"n": line["n"], **self._answer(line)})
                async with self._changed:
                    self._changed.notify_all()
        finally:
            writer.close()

    def _answer(self, line: Line) -> Line:
        if line["do"] == "login":
            return {"bot": "toybot", "session": SESSION} if line["token"] == TOKEN else {"error": "token"}
        if self.flood:
            seconds, self.flood = self.flood, 0
            return {"error": "flood", "seconds": seconds}
        known = self.messages.get(line.get("message", ""))
        if line["do"] != "send" and known is None:
            return {"error": "gone"}
        if line["do"] == "send":
            if line["shown"]["chat"] in self.lost:
                return {"error": "gone"}
            same = (one for one, kept in self.messages.items() if kept.get("nonce") == line["nonce"])
            return {"message": next(same, "") or self._keep({**line["shown"], "nonce": line["nonce"], "author": ""})}
        if line["do"] == "edit" and known is not None:
            known |= line["shown"]
        if line["do"] == "delete":
            del self.messages[line["message"]]
        return {}


@asynccontextmanager
async def toy_server() -> AsyncIterator[ToyServer]:
    made = ToyServer()
    server = await asyncio.start_server(made._serve, "127.0.0.1", 0, limit=LONGEST)
    made.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        if made._connected is not None:
            made._connected.close()
