"""An intake that remembers what came in and answers as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.domain.address import Person, Place
from bot.domain.incoming import Incoming, Invocation, Press
from bot.domain.outgoing import Reply


@dataclass
class Recording:
    messages: list[Incoming] = field(default_factory=list)
    presses: list[Press] = field(default_factory=list)
    replies: Callable[[Incoming], Reply] = lambda _: Reply()
    pressed: Reply = field(default_factory=Reply)
    waits: asyncio.Event | None = None
    """While set and not fired, messages are not answered."""
    hold: asyncio.Event | None = None
    """While set and not fired, what begins with "/screen", and every press, takes its time."""

    async def message(self, incoming: Incoming) -> Reply:
        self.messages.append(incoming)
        if self.waits is not None:
            await self.waits.wait()
        if self.hold is not None and incoming.command == "screen":
            await self.hold.wait()
        return self.replies(incoming)

    async def invoke(self, invocation: Invocation) -> Reply:
        raise AssertionError(f"Telegram has no typed commands: {invocation}")

    async def press(self, press: Press) -> Reply:
        self.presses.append(press)
        if self.hold is not None:
            await self.hold.wait()
        return self.pressed

    def suggestions(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        raise AssertionError(f"Telegram has no suggestions: {person} {place} {option} {typed}")
