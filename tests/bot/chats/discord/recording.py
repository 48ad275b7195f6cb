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
    invocations: list[Invocation] = field(default_factory=list)
    presses: list[Press] = field(default_factory=list)
    asked: list[tuple[Person, Place, str, str]] = field(default_factory=list)
    replies: Callable[[Incoming], Reply] = lambda _: Reply()
    invoked: Reply = field(default_factory=Reply)
    pressed: Reply = field(default_factory=Reply)
    offered: tuple[tuple[str, str], ...] = ()
    waits: asyncio.Event | None = None
    """While set and not fired, messages are not answered."""
    hold: asyncio.Event | None = None
    """While set and not fired, presses and invocations take their time."""

    async def message(self, incoming: Incoming) -> Reply:
        self.messages.append(incoming)
        if self.waits is not None:
            await self.waits.wait()
        return self.replies(incoming)

    async def invoke(self, invocation: Invocation) -> Reply:
        self.invocations.append(invocation)
        await self._held()
        return self.invoked

    async def press(self, press: Press) -> Reply:
        self.presses.append(press)
        await self._held()
        return self.pressed

    def suggestions(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        self.asked.append((person, place, option, typed))
        return self.offered

    async def _held(self) -> None:
        if self.hold is not None:
            await self.hold.wait()
