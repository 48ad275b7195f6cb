"""Where pictures and files are kept: only references travel in states, checkpoints and events."""

from __future__ import annotations

from typing import Protocol


class Frames(Protocol):
    """Content-addressed storage."""

    async def save(self, data: bytes, *, suffix: str) -> str:
        """Keep the bytes and return their reference, such as `sha256.jpg`. The same bytes give the same reference."""
        ...

    async def load(self, reference: str) -> bytes:
        """The bytes. Raises KeyError when they were never kept, or retention has removed them."""
        ...
