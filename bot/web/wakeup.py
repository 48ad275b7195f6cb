"""Helpers to wait: for the next signal, for any of several events, and for work until something stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


class Wakeup:
    """A signal that can be given repeatedly. Waiters take the event *before* they check for work, so that they miss no
    signal.
    """

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def next(self) -> asyncio.Event:
        """Return the event that the next `notify` will set."""
        return self._next

    def notify(self) -> None:
        """Wake all waiters."""
        beaten, self._next = self._next, asyncio.Event()
        beaten.set()


async def any_of(*events: asyncio.Event, seconds: float) -> None:
    """Wait until one of the events is set, for at most `seconds`."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def ends_before(stop: Awaitable[object], work: Awaitable[object]) -> bool:
    """Run `work` until it ends, or until `stop` ends first and `work` is cancelled. Returns whether `work` ended.
    Raises what `work` raises.
    """
    working = asyncio.ensure_future(work)
    both = (working, asyncio.ensure_future(stop))
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        return working.done()
    finally:
        for one in both:
            one.cancel()
        await asyncio.wait(both)
