"""Stores small facts that survive a restart, such as which notice was last sent to a channel."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path

from devices.atomic_file import write_atomically

logger = logging.getLogger(__name__)


class Remembered:
    """Stores texts by name in one JSON file. If the file is lost, a notice may be sent a second time, nothing worse."""

    def __init__(self, file: Path | None) -> None:
        """Without a file, texts are remembered until the process ends."""
        self._file = file
        self._known: dict[str, str] | None = None
        self._reading = asyncio.Lock()

    async def get(self, name: str) -> str:
        """Return the text last stored under this name; "" if there is none."""
        return (await self._all()).get(name, "")

    async def put(self, name: str, text: str) -> None:
        """Store a text under this name. If the file cannot be written, that is logged."""
        known = await self._all()
        known[name] = text
        if self._file is not None:
            await asyncio.to_thread(_write, self._file, dict(known))

    async def _all(self) -> dict[str, str]:
        async with self._reading:
            if self._known is None:
                self._known = {} if self._file is None else await asyncio.to_thread(_read, self._file)
        return self._known


def _read(file: Path) -> dict[str, str]:
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return texts_in(stored)


def texts_in(stored: object) -> dict[str, str]:
    """Return the texts by name in the parsed content of a file; values of other types are ignored."""
    entries = stored.items() if isinstance(stored, dict) else ()
    return {key: value for key, value in entries if isinstance(key, str) and isinstance(value, str)}


def _write(file: Path, known: Mapping[str, str]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(known, indent=1, sort_keys=True).encode())
    except OSError as error:
        logger.warning("A notice was sent but could not be recorded as sent, so it may be sent again: %s", error)
