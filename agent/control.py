"""Stop signals and notes, with which a person controls work in progress."""

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
"""Seconds that a cancelled call may take to return."""


class _Signal(BaseModel):
    model_config = ConfigDict(frozen=True)


class Pause(_Signal):
    """A signal: pause the work until it is resumed. A call in progress is cancelled."""

    kind: Literal["pause"] = "pause"


class Resume(_Signal):
    """A signal: continue after a pause. `note` is for the agent to read first, "" for none."""

    kind: Literal["resume"] = "resume"
    note: Text = ""


class Steer(_Signal):
    """A signal: leave a note that the agent reads before its next step."""

    kind: Literal["steer"] = "steer"
    note: Text


class Cancel(_Signal):
    """A signal: end the work, even if it is paused."""

    kind: Literal["cancel"] = "cancel"


Signal = Annotated[Pause | Resume | Steer | Cancel, Field(discriminator="kind")]
"""A request to pause, resume, steer or cancel work in progress."""


def done_by_hand(who: str) -> Words:
    """Return the note for the agent that a person did something on the phone themselves. `who` is the person."""
    return words("note.by_hand", who=who)


class Stopped(Exception):
    """The work was asked to pause or end, so the awaited call was cancelled."""


class Control:
    """The stop signals and notes of one task or run. They exist in memory only; the task service stores what must
    survive a restart.

    Every long wait must go through `guard`, so that a stop takes effect at once even if a call hangs. Code that acts on
    the phone must do so inside `acting`, so that `wait_until_stopped` knows when it has stopped.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self.paused = False
        self.graph = RunControl()
        """The control object passed to a graph, which stops it between two nodes when the service shuts down."""
        self._stop = asyncio.Event()
        self._end = asyncio.Event()
        self._go = asyncio.Event()
        self._go.set()
        self._moving = 0
        self._standing = asyncio.Event()
        self._notes: list[str] = []

    def apply(self, signal: Signal) -> None:
        """Carry out a signal. After a pause, await `wait_until_stopped` to be sure that the work has really stopped."""
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
        """Whether the work must stop because the service is shutting down."""
        return self.graph.drain_requested

    @property
    def stopping(self) -> bool:
        """Whether the work was asked to pause or end."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """End the work, even if it is paused."""
        self.cancelled = True
        self.paused = False
        self._stop.set()
        self._end.set()
        self._go.set()

    def pause(self) -> None:
        """Pause the work until `resume` is called."""
        if not (self.cancelled or self.draining or self.paused):
            self.paused = True
            self._standing.clear()
            self._go.clear()
            self._stop.set()

    def resume(self) -> None:
        """Continue after a pause."""
        self.paused = False
        if not (self.cancelled or self.draining):
            self._stop.clear()
        self._go.set()

    def drain(self) -> None:
        """Stop the work at the next safe point because the service shuts down; it can be continued later."""
        self.graph.request_drain()
        self.paused = False
        self._stop.set()
        self._end.set()
        self._go.set()

    async def wait_until_stopped(self) -> None:
        """Wait until paused work no longer acts on the phone; returns at once if it does not. Raises TimeoutError if it
        does not stop in time.
        """
        if self.paused and self._moving:
            async with asyncio.timeout(STAND_STILL_S):
                await self._standing.wait()

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Mark a block in which the work may act on the phone."""
        self._moving += 1
        try:
            yield
        finally:
            self._moving -= 1
            if not self._moving:
                self._standing.set()

    async def wait_while_paused(self) -> None:
        """Wait while the work is paused. The work itself calls this at points where it can safely stop."""
        if self.paused:
            self._standing.set()
            await self._go.wait()

    def note(self, text: str) -> None:
        """Leave a note that the agent reads before its next step."""
        self._notes.append(text)

    @property
    def has_notes(self) -> bool:
        """Whether there are unread notes."""
        return bool(self._notes)

    def take_notes(self) -> list[str]:
        """Return the unread notes and mark them as read."""
        notes, self._notes = self._notes, []
        return notes

    async def guard(self, work: Coroutine[Any, Any, T], *, pausing: bool = True) -> T:
        """Await `work` and return its result, unless a stop comes first: then cancel it, wait for it to return and
        raise Stopped. If it still returns a result, return that.

        With `pausing` off, only the end of the task or a shutdown counts as a stop. A pause then does not interrupt,
        for example, a place in a queue or an open question.
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
