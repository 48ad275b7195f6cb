"""Saves the phone's state as JSON, atomically, and loads it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from devices.atomic_file import write_atomically
from devices.virtual_phone.files import File
from devices.virtual_phone.state import PhoneState

logger = logging.getLogger(__name__)

# Several changes in a row are saved once.
SAVE_DELAY_SECONDS = 0.2


@with_config(ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"))
@dataclass(slots=True)
class Document:
    """Everything that outlives the process."""

    state: PhoneState
    files: dict[str, File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


ADAPTER = TypeAdapter(Document)


class Saver:
    """Writes a document soon after each change, one writing at a time, and once more at the end."""

    def __init__(self, path: Path, document: Callable[[], Document]) -> None:
        self._path = path
        self._document = document
        self._dirty = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def changed(self) -> None:
        """Something is to be saved."""
        self._dirty.set()

    def start(self) -> None:
        """Saves at once and from now on."""
        self._dirty.set()
        self._task = asyncio.create_task(self._save_changes(), name=f"saver of {self._path.name}")

    async def stop(self) -> None:
        """Saves for the last time."""
        self._closing.set()
        self._dirty.set()
        if self._task is not None:
            await self._task

    async def _save_changes(self) -> None:
        while True:
            await self._dirty.wait()
            last = self._closing.is_set()
            self._dirty.clear()
            try:
                await asyncio.to_thread(_save, self._path, ADAPTER.dump_json(self._document()))
            except OSError as problem:
                logger.warning("%s was not saved, the next change tries again: %s", self._path.name, problem)
            if last:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), SAVE_DELAY_SECONDS)


def _save(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)


def load(path: Path) -> Document | None:
    """The saved document; None when there is none or it cannot be read (it is then kept aside)."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return ADAPTER.validate_json(data)
    except ValidationError:
        aside = path.with_suffix(".broken")
        path.replace(aside)
        logger.warning("the state of a virtual phone could not be read; kept as %s, starting afresh", aside.name)
        return None
