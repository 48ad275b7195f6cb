"""The interface of the picture and file store. States, checkpoints and events carry only references to its content."""

from __future__ import annotations

from typing import Protocol


class Frames(Protocol):
    """A content-addressed store for pictures and files."""

    async def save(self, data: bytes, *, suffix: str) -> str:
        """Store bytes and return their reference, such as `sha256.jpg`. Equal bytes get the same reference."""
        ...

    async def load(self, reference: str) -> bytes:
        """Return the stored bytes. Raises KeyError if they were never stored or retention has deleted them."""
        ...
