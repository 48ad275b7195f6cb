"""Virtual phones in a process of their own, which a service starts and ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devices.extras import Extra, is_installed
from devices.geometry import Size
from devices.processes import child_environment
from devices.virtual import PhoneProcessFailed
from devices.virtual_phone.faults import NO_FAULTS, FaultValue, fault_text

if TYPE_CHECKING:
    from devices.virtual_phone.client import PhoneControl

START_SECONDS = 20.0
STOP_SECONDS = 5.0
ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}
"""For glibc (mallopt(3)): otherwise each thread that paints keeps a heap of its own. With four phones at work 207 MB
instead of 450 MB, together with what `KEPT_FRAMES` saves."""


@dataclass(frozen=True, slots=True)
class StartedPhone:
    """A running virtual phone: its name, the address that adb connects to, and the URL of its control interface."""

    name: str
    address: str
    control: str

    def open(self) -> PhoneControl:
        """Return a client for its control interface: `async with phone.open() as control:`."""
        # Only who changes the phone from outside needs it, and it loads an HTTP client and all apps.
        from devices.virtual_phone.client import PhoneControl  # noqa: PLC0415 - see above

        return PhoneControl(self.control)


class PhoneProcess:
    """Runs `python -m devices.virtual_phone` as a process.

    It ends together with this process, even after a crash, because its standard input is then closed.
    """

    def __init__(
        self,
        *,
        count: int = 1,
        size: Size | None = None,
        state: Path | None = None,
        seed: int = 0,
        language: str = "en-US",
        dark: bool = False,
        faults: Mapping[str, FaultValue] = NO_FAULTS,
    ) -> None:
        """Create the process without starting it. `faults` are set from the start, by name."""
        self.phones: tuple[StartedPhone, ...] = ()
        self._count = count
        self._arguments = ["--json", "--no-connect", "--until-input-closes"]
        self._arguments += ["--count", str(count), "--seed", str(seed), "--language", language]
        self._arguments += [word for name, value in faults.items() for word in ("--fault", fault_text(name, value))]
        if dark:
            self._arguments.append("--dark")
        if size is not None:
            self._arguments += ["--size", f"{size.width}x{size.height}"]
        if state is not None:
            self._arguments += ["--state", str(state)]
        self._process: asyncio.subprocess.Process | None = None

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> tuple[StartedPhone, ...]:
        """Start the phones, wait until all of them listen, and return them. Raises PhoneProcessFailed."""
        if not is_installed(Extra.VIRTUAL_PHONE):
            raise PhoneProcessFailed(
                f"The virtual phones did not start: the extra {Extra.VIRTUAL_PHONE} is not installed."
            )
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "devices.virtual_phone",
            *self._arguments,
            env=child_environment(("PYTHONPATH",), ONE_HEAP),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                self.phones = await self._read_phones(self._process)
        except BaseException as problem:
            await self.stop()
            if isinstance(problem, TimeoutError):
                raise PhoneProcessFailed(f"The virtual phones did not start within {START_SECONDS:.0f} s.") from None
            raise
        return self.phones

    async def stop(self) -> None:
        """End the phones, which save their state. A process that does not end in time is killed."""
        process, self._process = self._process, None
        self.phones = ()
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                # Reading the rest of the output lets the pipes close too.
                await process.communicate()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    async def _read_phones(self, process: asyncio.subprocess.Process) -> tuple[StartedPhone, ...]:
        assert process.stdout is not None
        assert process.stderr is not None
        phones: list[StartedPhone] = []
        while len(phones) < self._count:
            line = await process.stdout.readline()
            if not line:
                said = (await process.stderr.read()).decode(errors="replace").strip()
                raise PhoneProcessFailed(f"The virtual phones did not start: {said or 'no reason was given'}")
            phones.append(StartedPhone(**json.loads(line)))
        return tuple(phones)
