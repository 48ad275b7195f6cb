"""A chat in memory: records what it shows, and fails when it is told to."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.chat import Budget, Capabilities, ChatError, ChatGone, FloodWait
from bot.domain.incoming import Press
from bot.domain.outgoing import Message, Turn, at_once
from tests.bot.chats.contract import Shown

CAPABILITIES = Capabilities(
    threads=True,
    edit_interval=3.0,
    edit_interval_group=6.0,
    caption_limit=1024,
    file_limit=10_000_000,
    card_lifetime=3600.0,
    knows_delivery=True,
    deletes=True,
    menu_choices=100,
    chat_budgets=(Budget(1, 1.0),),
    group_budgets=(Budget(1, 1.0), Budget(20, 60.0)),
    account_budgets=(Budget(30, 1.0),),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call that reached the chat: when, what, and with which message."""

    at: float
    verb: Literal["open", "close", "send", "edit", "delete"]
    place: Address
    message: Message | None = None
    nonce: str = ""


@dataclass(slots=True)
class _Kept:
    ref: MessageRef
    message: Message
    nonce: str


@dataclass(slots=True)
class LoopbackChat:
    """Implements `bot.domain.chat.Chat`. `faults` are raised by the next calls, one each, before anything is done."""

    platform: str = "discord"
    capabilities: Capabilities = CAPABILITIES
    now: Callable[[], float] = lambda: 0.0
    calls: list[Call] = field(default_factory=list)
    faults: deque[Exception | None] = field(default_factory=deque)
    lost: set[Address] = field(default_factory=set)
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _number: int = 0
    _called: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        del anchor, title
        await self._called_with("open", origin)
        return replace(origin, thread=self._next("t")) if self.capabilities.threads and not origin.thread else origin

    async def private_place(self, origin: Address, person: Person) -> Address:
        return Address(origin.platform, origin.account, f"dm{person.id}")

    async def close_place(self, place: Address) -> None:
        await self._called_with("close", place)

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        await turn()
        await self._called_with("send", place, message, nonce)
        if self.capabilities.knows_delivery:
            for kept in self._kept.values():
                if kept.nonce == nonce:
                    return kept.ref
        ref = MessageRef(place, self._next("m"))
        self._kept[ref.message] = _Kept(ref, message, nonce)
        return ref

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        await turn()
        await self._called_with("edit", ref.address, message)
        self._there(ref).message = message

    async def delete(self, ref: MessageRef) -> None:
        await self._called_with("delete", ref.address)
        if not self.capabilities.deletes:
            raise ChatError("messages cannot be deleted here")
        self._there(ref)
        del self._kept[ref.message]

    def write(self, place: Address, text: str) -> MessageRef:
        """A person writes."""
        ref = MessageRef(place, self._next("p"))
        self._kept[ref.message] = _Kept(ref, Message(body=text), "")
        return ref

    def remove(self, ref: MessageRef) -> None:
        """A person deletes a message."""
        del self._kept[ref.message]

    def messages(self, place: Address | None = None) -> list[Message]:
        """What stands there now (or anywhere), oldest first."""
        return [kept.message for kept in self._kept.values() if place is None or kept.ref.address == place]

    def refs(self, place: Address | None = None) -> list[MessageRef]:
        """Where these stand."""
        return [kept.ref for kept in self._kept.values() if place is None or kept.ref.address == place]

    def sent(self, place: Address | None = None) -> list[Message]:
        """What was sent new, in order, as it was then."""
        return [
            call.message
            for call in self.calls
            if call.verb == "send" and call.message is not None and place in {None, call.place}
        ]

    async def wait_until(self, ready: Callable[[], bool], timeout: float = 10.0) -> None:
        """Until something holds, looked at after each call."""
        async with asyncio.timeout(timeout), self._called:
            await self._called.wait_for(ready)

    def _next(self, letter: str) -> str:
        self._number += 1
        return f"{letter}{self._number}"

    def _there(self, ref: MessageRef) -> _Kept:
        kept = self._kept.get(ref.message)
        if kept is None:
            raise ChatGone("the message is not there any more")
        return kept

    async def _called_with(
        self,
        verb: Literal["open", "close", "send", "edit", "delete"],
        place: Address,
        message: Message | None = None,
        nonce: str = "",
    ) -> None:
        async with self._called:
            self._called.notify_all()
        if self.faults and (fault := self.faults.popleft()) is not None:
            raise fault
        if place in self.lost:
            raise ChatGone("the place is not there any more")
        self.calls.append(Call(self.now(), verb, place, message, nonce))


@dataclass(slots=True)
class LoopbackBench:
    """The contract's bench for the chat in memory."""

    chat: LoopbackChat
    origin: Address = field(default_factory=lambda: Address("discord", "bot", "chan", "guild"))
    person: Person = field(default_factory=lambda: Person("discord", "42", "Anna"))

    async def shown(self, place: Address) -> Sequence[Shown]:
        return [
            _shown(ref, message) for ref, message in zip(self.chat.refs(place), self.chat.messages(place), strict=True)
        ]

    async def remove(self, ref: MessageRef) -> None:
        self.chat.remove(ref)

    async def lose(self, place: Address) -> None:
        self.chat.lost.add(place)

    async def press(self, ref: MessageRef, data: str) -> Press:
        return Press(self.person, Place(ref.address), "e1", data, ref)

    async def flood(self, seconds: float) -> None:
        self.chat.faults.append(FloodWait(seconds))


def _shown(ref: MessageRef, message: Message) -> Shown:
    return Shown(
        ref.message,
        "\n".join((message.heading, message.body, message.footer)),
        tuple(one.data for row in message.buttons for one in row),
        tuple(file.name for file in (*((message.picture,) if message.picture else ()), *message.files)),
        (message.mention.id,) if message.mention else (),
        not message.notify,
        tuple(one.data for one in message.menu.choices) if message.menu else (),
        message.reply_to.message if message.reply_to else "",
    )
