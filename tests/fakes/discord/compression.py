"""Transport compression of the gateway: one context for a whole connection, flushed after each event."""

from __future__ import annotations

import zlib
from typing import Protocol

import zstandard


class Compressor(Protocol):
    def pack(self, text: str) -> bytes: ...


class ZlibStream:
    def __init__(self) -> None:
        self._context = zlib.compressobj()

    def pack(self, text: str) -> bytes:
        return self._context.compress(text.encode()) + self._context.flush(zlib.Z_SYNC_FLUSH)


class ZstdStream:
    def __init__(self) -> None:
        self._context = zstandard.ZstdCompressor().compressobj()

    def pack(self, text: str) -> bytes:
        return self._context.compress(text.encode()) + self._context.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


def compressor(kind: str) -> Compressor:
    """The context for `compress=` of a gateway address. discord.py takes zstd where the library is installed."""
    if kind == "zstd-stream":
        return ZstdStream()
    if kind == "zlib-stream":
        return ZlibStream()
    raise ValueError(f"the fake gateway does not speak {kind!r}")
