"""Sends messages of several parts on platforms that cannot tell whether a part has arrived."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from devices.recent import Recent

_REMEMBERED: Final = 256
"""Maximum sendings interrupted between two parts that are remembered; our choice."""


class Unfinished:
    """Remembers how far an interrupted sending got, so that repeating it continues there."""

    def __init__(self) -> None:
        self._progress: Recent[str, tuple[str, int]] = Recent(_REMEMBERED)
        """The id of the first message, and the number of parts that are there, by nonce."""

    async def send(self, nonce: str, parts: int, send: Callable[[int], Awaitable[str]]) -> str:
        """Call `send` with each part's number, beginning with the first that was not sent yet under this nonce. `parts`
        is the number of parts; `send` returns the id of the sent message. Returns the id of the first part's message.
        """
        first, done = self._progress.pop(nonce, ("", 0))
        try:
            for index in range(done, parts):
                sent = await send(index)
                first, done = first or sent, index + 1
        finally:
            if 0 < done < parts:
                self._progress[nonce] = (first, done)
        return first
