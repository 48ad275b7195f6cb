"""The complete virtual phone: the device with its services and scenario, which can be started, stopped and stored in a
file.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from devices.atomic_file import write_atomically
from devices.geometry import Size
from devices.virtual_phone.android import switch
from devices.virtual_phone.apps import BY_KEY
from devices.virtual_phone.device import Device
from devices.virtual_phone.faults import NO_FAULTS, FaultValue
from devices.virtual_phone.files import File, Files
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.services import find_service
from devices.virtual_phone.state import LAUNCHER, Identity, PhoneState
from devices.virtual_phone.uiautomator_server import JAR

logger = logging.getLogger(__name__)

# Several changes in a row are saved once.
SAVE_DELAY_SECONDS = 0.2

DEFAULT_SIZE = Size(1080, 2400)
DEFAULT_DENSITY = 420


@with_config(ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"))
@dataclass(slots=True)
class Document:
    """Everything about a phone that is stored in a file and outlives the process."""

    state: PhoneState
    files: dict[str, File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


ADAPTER = TypeAdapter(Document)


class Saver:
    """Saves a document to a file soon after each change, one save at a time, and once more at the end."""

    def __init__(self, path: Path, document: Callable[[], Document]) -> None:
        self._path = path
        self._document = document
        self._dirty = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def changed(self) -> None:
        """Request a save because the document has changed."""
        self._dirty.set()

    def start(self) -> None:
        """Save at once, and after each change from now on."""
        self._dirty.set()
        self._task = asyncio.create_task(self._save_changes(), name=f"saver of {self._path.name}")

    async def stop(self) -> None:
        """Save for the last time."""
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
                logger.warning("%s could not be saved; the next change will try again: %s", self._path.name, problem)
            if last:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), SAVE_DELAY_SECONDS)


def _save(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)


def load(path: Path) -> Document | None:
    """Return the document stored in this file; None when there is none or it is invalid (the file is then renamed)."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return ADAPTER.validate_json(data)
    except ValidationError:
        aside = path.with_suffix(".broken")
        path.replace(aside)
        logger.warning(
            "The state of a virtual phone could not be read. It is kept as %s, and the phone starts anew", aside.name
        )
        return None


class VirtualPhone(Device):
    """One virtual phone. `async with VirtualPhone() as phone:` starts and stops it.

    - `number`: Determines its serial (VIRTUAL0001) and its android_id.
    - `size`, `density`: The screen in pixels and dots per inch.
    - `seed`: Shuffles icons, rows and results; 0 does not.
    - `pin`: The PIN of the lock screen; "" for none.
    - `port`: The port of its adb daemon; 0 for any free one.
    - `state_file`: A file that is loaded at the start and saved after changes. Its contents win over all other
      arguments except `port`, `faults` and `clock`.
    - `faults`: Faults to set from the start, by name.
    - `clock`: Returns the phone's date and time.
    """

    def __init__(
        self,
        name: str = "virtual-1",
        *,
        number: int = 1,
        size: Size = DEFAULT_SIZE,
        density: int = DEFAULT_DENSITY,
        seed: int = 0,
        locale: str = "en-US",
        pin: str = "",
        sign_in_code: str = "246810",
        port: int = 0,
        state_file: Path | None = None,
        dark: bool = False,
        faults: Mapping[str, FaultValue] = NO_FAULTS,
        clock: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        identity = Identity(name, f"VIRTUAL{number:04d}", hashlib.sha256(f"virtual {number}".encode()).hexdigest()[:16])
        state = PhoneState(
            identity, size.width, size.height, density, seed=seed, locale=locale, pin=pin, sign_in_code=sign_in_code
        )
        stored = load(state_file) if state_file else None
        document = stored or Document(state, folders=Files().folders)
        super().__init__(
            document.state,
            Files(document.files, document.folders),
            clock,
            serve=lambda name: find_service(self, name),
            happen=lambda what: happen(self, what),
        )
        if stored is None:
            switch(self.state, "dark", on=dark)
        if faults:
            self.faults.set(**faults)
        self._port = port or self.state.port
        self._port_wanted = bool(port)
        self._saver = Saver(state_file, self._document) if state_file else None
        self._tidy()

    @property
    def address(self) -> str:
        """The address for `adb connect` (host:port), which adb then uses as the serial."""
        return f"127.0.0.1:{self._adbd.port}"

    async def start(self) -> None:
        """Start the adb daemon, on its previous port if that is free. Raises OSError when an explicitly requested port
        is taken.
        """
        try:
            await self._adbd.start(self._port)
        except OSError:
            if self._port_wanted or not self._port:
                raise
            await self._adbd.start(0)
        self.state.port = self._adbd.port
        if self._saver is not None:
            self._saver.start()

    async def stop(self) -> None:
        """Cut all connections and save the state."""
        for timer in self._timers:
            timer.cancel()
        await self._adbd.stop()
        self._frames.clear()  # a stopped phone is a circle of objects: it may wait long for the garbage collector
        if self._saver is not None:
            await self._saver.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def changed(self) -> None:
        """Handle a change of the state by saving it soon."""
        if self._saver is not None:
            self._saver.changed()

    def _tidy(self) -> None:
        """After a load: pages that were on their way have come, and pages that are no longer known are left."""
        state = self.state
        known = [each for each in state.tasks if each.app in BY_KEY]
        state.tasks = [task for task in known if {each.page for each in task.stack} <= set(BY_KEY[task.app].pages)]
        if state.task(state.front) is None:
            state.front = LAUNCHER
        for task in state.tasks:
            for activity in task.stack:
                activity.awaited = 0

    def _document(self) -> Document:
        kept = {path: file for path, file in self.files.files.items() if path != JAR}  # 3.7 MB that come again
        return Document(self.state, kept, self.files.folders)
