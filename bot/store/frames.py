"""Pictures and files, kept by content beside the database. Implements `agent.ports.frames.Frames`."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

_REFERENCE = re.compile(r"[0-9a-f]{64}\.[a-z0-9]{1,10}")

KEEP_DAYS = 14
KEEP_BYTES = 2 * 1024**3
_DAY_S = 86_400.0


class FrameFiles:
    """A directory of files named after the SHA-256 of their bytes, in one folder per first two digits."""

    def __init__(
        self, root: Path, clock: Callable[[], float], *, keep_days: float = KEEP_DAYS, keep_bytes: int = KEEP_BYTES
    ) -> None:
        self._root = root
        self._clock = clock
        self._keep_days = keep_days
        self._keep_bytes = keep_bytes

    async def save(self, data: bytes, *, suffix: str) -> str:
        """Keep the bytes; the reference is their SHA-256 and the suffix (with or without its dot).

        Raises ValueError for a suffix that is none, OSError when they cannot be written.
        """
        reference = f"{hashlib.sha256(data).hexdigest()}.{suffix.removeprefix('.')}"
        if not _REFERENCE.fullmatch(reference):
            raise ValueError(f"{suffix!r} is no suffix for a file: at most 10 small letters or digits")
        await asyncio.to_thread(self._write, reference, data)
        return reference

    async def load(self, reference: str) -> bytes:
        """The bytes. Raises KeyError when they were never kept, were removed by retention, or are damaged."""
        if not _REFERENCE.fullmatch(reference):
            raise KeyError(reference)
        try:
            data = await asyncio.to_thread(self._path(reference).read_bytes)
        except FileNotFoundError:
            raise KeyError(reference) from None
        if hashlib.sha256(data).hexdigest() != reference.partition(".")[0]:
            # Only after a power cut: files are not forced to the disk one by one.
            raise KeyError(reference)
        return data

    async def prune(self, in_use: frozenset[str] = frozenset()) -> int:
        """Remove what is older than the days to keep, then the oldest until the rest fits. Returns how many.

        References `in_use` stay, however old and large they are.
        """
        return await asyncio.to_thread(self._prune, in_use)

    def _path(self, reference: str) -> Path:
        return self._root / reference[:2] / reference

    def _write(self, reference: str, data: bytes) -> None:
        path = self._path(reference)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Under another name first: a reader never sees half a file, and neither does the next start.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            now = self._clock()
            os.utime(name, (now, now))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _prune(self, in_use: frozenset[str]) -> int:
        oldest = self._clock() - self._keep_days * _DAY_S
        found = [(path.stat(), path) for path in self._root.glob("*/*")]
        total = removed = 0
        for status, path in sorted(found, key=lambda entry: entry[0].st_mtime, reverse=True):
            total += status.st_size
            if path.name not in in_use and (status.st_mtime < oldest or total > self._keep_bytes):
                path.unlink(missing_ok=True)
                removed += 1
        return removed
