"""How a person steps in: stop signs and notes for work that is going on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The work was asked to stand still or to end; what was awaited has been cancelled."""


class Control:
    """Stop signs and notes of one task or run. Lives in memory; the task service knows what must survive.

    Every long wait goes through `guard`: a stop then takes effect at once, also while a call hangs.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self.paused = False
        self.draining = False
        self._stop = asyncio.Event()
        self._end = asyncio.Event()
        self._go = asyncio.Event()
        self._go.set()
        self._standing = asyncio.Event()
        self._notes: list[str] = []

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
        if not (self.cancelled or self.draining):
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
        self.draining = True
        self.paused = False
        self._stop.set()
        self._end.set()
        self._go.set()

    async def wait_standing(self) -> None:
        """Returns when a paused work really stands still."""
        await self._standing.wait()

    async def hold(self) -> None:
        """Called by the work at its safe point: waits there while it is paused."""
        if self.paused:
            self._standing.set()
            await self._go.wait()

    def stood(self) -> None:
        """Called when the work has ended: nobody needs to wait for it to stand."""
        self._standing.set()

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
