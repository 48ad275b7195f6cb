"""How a person steps in: stop signals and notes for work in progress."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeVar

from langgraph.runtime import RunControl
from pydantic import BaseModel, ConfigDict, Field

from agent.wording import Text, words
from devices.wording import Words

T = TypeVar("T")

STAND_STILL_S = 5.0
"""A call that was cut off may take that long to let go."""


class _Signal(BaseModel):
    model_config = ConfigDict(frozen=True)


class Pause(_Signal):
    """Stand still until a resume; a call that hangs is cut off."""

    kind: Literal["pause"] = "pause"


class Resume(_Signal):
    """Go on after a pause, with a note for the next step unless it is empty."""

    kind: Literal["resume"] = "resume"
    note: Text = ""


class Steer(_Signal):
    """A note that is read before the next step."""

    kind: Literal["steer"] = "steer"
    note: Text


class Cancel(_Signal):
    """End the work, also a paused one."""

    kind: Literal["cancel"] = "cancel"


Signal = Annotated[Pause | Resume | Steer | Cancel, Field(discriminator="kind")]
"""What is asked of work that is going on."""


def done_by_hand(who: str) -> Words:
    """The note that a person did something on the phone themselves."""
    return words("note.by_hand", who=who)


class Stopped(Exception):
    """The work was asked to stand still or to end; what was awaited has been cancelled."""


class Control:
    """Stop signs and notes of one task or run. Lives in memory; the task service knows what must survive.

    Every long wait goes through `guard`: a stop then takes effect at once, also while a call hangs. What acts does so
    inside of `moving`, so that `rest` knows when it stands still.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self.paused = False
        self.graph = RunControl()
        """What a graph is given, so that it stops between two nodes when the service shuts down."""
        self._stop = asyncio.Event()
        self._end = asyncio.Event()
        self._go = asyncio.Event()
        self._go.set()
        self._moving = 0
        self._standing = asyncio.Event()
        self._notes: list[str] = []

    def obey(self, signal: Signal) -> None:
        """Do what is asked. Of a pause, `rest` returns when the work really stands still."""
        match signal:
            case Pause():
                self.pause()
            case Resume(note=note):
                if note:
                    self.note(note)
                self.resume()
            case Steer(note=note):
                self.note(note)
            case Cancel():
                self.cancel()

    @property
    def draining(self) -> bool:
        """Whether the service is shutting down."""
        return self.graph.drain_requested

    @property
    def stopping(self) -> bool:
        """Whether something asks the work to stand still or to end."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """End the work, also a paused one."""
        self.cancelled = True
        self.paused = False
        self._stop.set()
        self._end.set()
        self._go.set()

    def pause(self) -> None:
        """Stand still until `resume`."""
        if not (self.cancelled or self.draining or self.paused):
            self.paused = True
            self._standing.clear()
            self._go.clear()
            self._stop.set()

    def resume(self) -> None:
        """Go on after a pause."""
        self.paused = False
        if not (self.cancelled or self.draining):
            self._stop.clear()
        self._go.set()

    def drain(self) -> None:
        """The service is shutting down: stop at the next safe point, to be continued; nothing is held any more."""
        self.graph.request_drain()
        self.paused = False
        self._stop.set()
        self._end.set()
        self._go.set()

    async def rest(self) -> None:
        """Returns when paused work stands still: at once, unless something moves. Raises TimeoutError when it has not
        come to rest in time.
        """
        if self.paused and self._moving:
            async with asyncio.timeout(STAND_STILL_S):
                await self._standing.wait()

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Inside the block something may act."""
        self._moving += 1
        try:
            yield
        finally:
            self._moving -= 1
            if not self._moving:
                self._standing.set()

    async def hold(self) -> None:
        """Called by the work at its safe point: waits there while it is paused."""
        if self.paused:
            self._standing.set()
            await self._go.wait()

    def note(self, text: str) -> None:
        """Leave a note that is read before the next step."""
        self._notes.append(text)

    @property
    def has_notes(self) -> bool:
        """Whether there are notes that nobody has read."""
        return bool(self._notes)

    def take_notes(self) -> list[str]:
        """The unread notes, which are read now."""
        notes, self._notes = self._notes, []
        return notes

    async def guard(self, work: Coroutine[Any, Any, T], *, pausing: bool = True) -> T:
        """Await `work`, unless a stop comes first: then it is cancelled, waited for, and Stopped is raised.

        With `pausing` off only an end counts: a pause leaves the work alone (a place in a queue, an open question).
        """
        sign = self._stop if pausing else self._end
        if sign.is_set():
            work.close()
            raise Stopped
        task = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(sign.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            task.cancel()
            await asyncio.wait({task})
            if task.cancelled() or task.exception() is not None:
                raise Stopped
            return task.result()
        finally:
            stop.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
