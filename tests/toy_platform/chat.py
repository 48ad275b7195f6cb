"""The toy platform as a chat."""

from __future__ import annotations

import asyncio
import base64
import itertools
import logging
import math

from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.chat import Capabilities, ChatError, ChatGone, FloodWait, Intake
from bot.domain.incoming import ForeignText, Incoming, Press
from bot.domain.outgoing import Message, Reply, Turn, at_once
from tests.toy_platform.wire import LONGEST, Line, read, write

PLATFORM = "toy"
ACCOUNT = "toybot"
CAPABILITIES = Capabilities(
    threads=False,
    edit_interval=0.1,
    edit_interval_group=0.1,
    caption_limit=100_000,
    file_limit=10_000_000,
    card_lifetime=math.inf,
    knows_delivery=True,
    deletes=True,
)
ANSWER_S = 10.0

logger = logging.getLogger(__name__)


class Connection:
    """One connection: calls with their answers, and events."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Line]] = {}
        self.events: asyncio.Queue[Line] = asyncio.Queue()
        self.reading = asyncio.create_task(self._read())

    @classmethod
    async def to(cls, server: str) -> Connection:
        """Raises ChatError when nobody listens there."""
        host, _, port = server.rpartition(":")
        try:
            return cls(*await asyncio.open_connection(host, int(port), limit=LONGEST))
        except OSError as error:
            raise ChatError("The toy platform cannot be reached.") from error

    async def ask(self, what: str, **values: object) -> Line:
        """Raises ChatError, ChatGone or FloodWait."""
        if self.reading.done():
            raise ChatError("The toy platform has hung up, so nothing was sent.")
        number = next(self._numbers)
        answer: asyncio.Future[Line] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        write(self._writer, {"n": number, "do": what, **values})
        try:
            async with asyncio.timeout(ANSWER_S):
                found: Line = await answer
        except TimeoutError:
            raise ChatError("The toy platform does not answer.") from None
        match found.get("error"):
            case None:
                return found
            case "flood":
                raise FloodWait(found["seconds"])
            case "gone":
                raise ChatGone("It is not there any more on the toy platform.")
            case wrong:
                raise ChatError(f"The toy platform says no: {wrong}.")

    async def close(self) -> None:
        self._writer.close()
        self.reading.cancel()
        await asyncio.wait({self.reading})

    async def _read(self) -> None:
        while (line := await read(self._reader)) is not None:
            if "event" in line:
                self.events.put_nowait(line["event"])
            elif (waiting := self._waiting.pop(line["n"], None)) is not None and not waiting.done():
                waiting.set_result(line)


class ToyChat:
    """Implements `bot.domain.chat.Connected`."""

    platform = PLATFORM
    capabilities = CAPABILITIES

    def __init__(self, token: str, server: str, intake: Intake) -> None:
        self._token, self._server, self._intake = token, server, intake
        self._line: Connection | None = None
        self.connected = asyncio.Event()

    @property
    def online(self) -> bool:
        return self._line is not None and not self._line.reading.done()

    async def run(self) -> None:
        line = await Connection.to(self._server)
        try:
            session = (await line.ask("login", token=self._token, stay=True))["session"]
            logger.warning("Toy: logged in with %s, the session is %s.", self._token, session)
            self._line = line
            self.connected.set()
            while True:
                event = asyncio.ensure_future(line.events.get())
                await asyncio.wait({event, line.reading}, return_when=asyncio.FIRST_COMPLETED)
                if not event.done():
                    event.cancel()
                    return
                await self._take(event.result())
        finally:
            self._line = None
            await line.close()

    async def close(self) -> None:
        if self._line is not None:
            await self._line.close()

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        del anchor, title
        return origin

    async def private_place(self, origin: Address, person: Person) -> Address:
        return Address(PLATFORM, origin.account, person.id)

    async def close_place(self, place: Address) -> None:
        del place

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        await turn()
        answer = await self._there().ask("send", shown=_shown(place, message), nonce=nonce)
        return MessageRef(place, answer["message"])

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        await turn()
        await self._there().ask("edit", message=ref.message, shown=_shown(ref.address, message))

    async def delete(self, ref: MessageRef) -> None:
        await self._there().ask("delete", message=ref.message)

    def _there(self) -> Connection:
        if self._line is None:
            raise ChatError("The toy platform is not connected, so nothing was sent.")
        return self._line

    async def _take(self, event: Line) -> None:
        person = Person(PLATFORM, event["person"], event["person"])
        address = Address(PLATFORM, ACCOUNT, event["chat"])
        place = Place(address, private=event["chat"] == event["person"])
        ref = MessageRef(address, event["message"])
        if "press" in event:
            reply = await self._intake.press(Press(person, place, event["id"], event["press"], ref))
        else:
            text: str = event["text"]
            foreign = ForeignText(event["by"]) if event["by"] else None
            command = text.removeprefix("!") if text.startswith("!") and foreign is None else None
            came = Incoming(person, place, ref.message, text, command, message=ref, foreign=foreign)
            reply = await self._intake.message(came)
        await self._say(reply, address, f"reply to {event.get('id', ref.message)}")

    async def _say(self, reply: Reply, address: Address, nonce: str) -> None:
        said = reply.message or (Message(body=reply.toast) if reply.toast else None)
        if said is not None:
            await self.send(address, said, nonce=nonce, turn=reply.turn)


def _shown(place: Address, message: Message) -> Line:
    pictures = (*([message.picture] if message.picture else []), *message.files)
    return {
        "chat": place.chat,
        "text": "\n".join(part for part in (message.heading, message.body, message.footer) if part),
        "buttons": [button.data for row in message.buttons for button in row],
        "files": [[file.name, base64.b64encode(file.data).decode()] for file in pictures],
        "ring": message.notify,
        "mention": message.mention.id if message.mention else "",
        "reply_to": message.reply_to.message if message.reply_to else "",
    }
