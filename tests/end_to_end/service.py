"""The service as an operator runs it: `opengui run` in a process of its own, killed or stopped by the tests."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

from bot.web import handover
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer
from tests.fixtures.databases import database_url
from tests.fixtures.warm_start import WarmProcess, start_opengui

START_S = 60.0
STOP_S = 30.0


@dataclass
class Place:
    """A machine for the service: a phone on a real adb server, an empty data directory, and settings."""

    phone: VirtualPhone
    adb: AdbServer
    directory: Path
    settings: dict[str, str] = field(default_factory=dict)
    open_files: int | None = None
    """How many files and connections a service may have open from its start on; None is as many as the tests may."""

    @property
    def data(self) -> Path:
        return self.directory / "data"

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Nothing of the machine's own settings gets in."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in {"PATH", "HOME", "TMPDIR"} or name.startswith(("COVERAGE", "COV_"))
        }
        return {
            **kept,
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "ANDROID_ADB_SERVER_PORT": str(self.adb.port),
            "ANDROID_SERIALS": self.phone.address,
            "VIRTUAL_PHONES": "0",
            "DATA_DIR": str(self.data),
            "DATABASE_URL": database_url(self.data),
            "CONSOLE_PORT": "0",
            "GUARD": "rules",
            **self.settings,
            **more,
        }

    def service(self, **more: str) -> Service:
        """The service with these settings added, not started yet."""
        return Service(self, more)

    async def opengui(self, *arguments: str, stdin: str = "", **more: str) -> tuple[int, str, str]:
        """Run a command to its end, with this on its standard input: exit code, standard output, standard error."""
        process = await start_opengui(
            arguments, directory=self.directory, environment=self.environment(more), piped=True
        )
        try:
            async with asyncio.timeout(START_S):
                out, err = await process.communicate(stdin.encode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()


@dataclass(frozen=True)
class Needs:
    """What a process has of the machine now: bytes of memory, threads, and open files and connections."""

    memory: int
    threads: int
    handles: int

    def __str__(self) -> str:
        return f"{self.memory / 1e6:.0f} MB, {self.threads} threads, {self.handles} files and connections"


class Service:
    """`async with place.service(…) as service:` runs it until the block ends; `kill` ends it without a word."""

    def __init__(self, place: Place, settings: Mapping[str, str]) -> None:
        self._place = place
        self._settings = settings
        self._process: WarmProcess | None = None
        self._reader: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self.log = ""
        self.console = ""

    async def __aenter__(self) -> Self:
        await self.begin("Ready.")
        return self

    async def begin(self, says: str) -> None:
        """Run it from now on; returns once its log holds these words."""
        self._process = await start_opengui(
            ["run"],
            directory=self._place.directory,
            environment=self._place.environment(self._settings),
            open_files=self._place.open_files,
        )
        self._reader = asyncio.create_task(self._read(self._process))
        await self.says(says)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            sys.stderr.write(self.log)
        await self._end(signal.SIGTERM)

    async def spawned(self) -> None:
        """Return once there is a process: a kill before that would leave one that begins after it."""
        async with asyncio.timeout(START_S):
            while self._process is None:
                await asyncio.sleep(0.005)

    @property
    def pid(self) -> int:
        """Of its process, which runs."""
        assert self._process is not None
        return self._process.pid

    async def kill(self) -> None:
        """kill -9."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int | None:
        """Ask it to end, as a service manager does; its exit code."""
        process = self._process
        await self._end(signal.SIGTERM)
        return None if process is None else process.returncode

    async def ended(self) -> int | None:
        """Wait until it has ended by itself; its exit code."""
        process, self._process = self._process, None
        assert process is not None
        assert self._reader is not None
        async with asyncio.timeout(STOP_S):
            await process.wait()
        await self._reader
        return process.returncode

    def send(self, which: signal.Signals) -> None:
        """Send it a signal, and go on."""
        assert self._process is not None
        self._process.send_signal(which)

    def room(self, size: int | None) -> None:
        """The most bytes that a file which the service writes may have from now on; None for no limit.

        Every write beyond fails (EFBIG), as on a disk that is full.
        """
        assert self._process is not None
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))

    def memory(self, more: int | None) -> None:
        """The most bytes of memory that it may take from now on beside what it has; None for no limit.

        What is above is refused, as by `ulimit -d`.
        """
        assert self._process is not None
        limit = resource.RLIM_INFINITY if more is None else self._status("VmData") + more
        resource.prlimit(self._process.pid, resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))

    def peak_memory(self) -> int:
        """The most bytes of memory that it ever had at once."""
        return self._status("VmHWM")

    def needs(self) -> Needs:
        """What it has of the machine now."""
        assert self._process is not None
        own = Path(f"/proc/{self._process.pid}")
        counts = [len(list((own / name).iterdir())) for name in ("task", "fd")]
        return Needs(self._status("VmRSS"), *counts)

    def _status(self, name: str) -> int:
        """Bytes, as the kernel counts them for the process."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(status.partition(f"{name}:")[2].split()[0]) * 1024

    async def health(self) -> dict[str, Any]:
        """What it tells at /healthz."""
        note = await asyncio.to_thread(handover.read, self._place.data)
        origin = self.console.partition("/?")[0] if note is None else note.url
        async with aiohttp.ClientSession() as caller, caller.get(f"{origin}/healthz") as response:
            told: dict[str, Any] = await response.json()
            return told

    async def waits_for(self, *what: str) -> None:
        """Returns once it tells that it waits for just these."""
        async with asyncio.timeout(START_S):
            while {wait["for"] for wait in (await self.health())["waits"]} != set(what):
                await asyncio.sleep(0.1)

    async def says(self, words: str) -> None:
        """Returns once the log holds these words."""
        async with asyncio.timeout(START_S):
            while words not in self.log:
                assert self._reader is not None
                assert not self._reader.done(), f"it ended without saying {words!r}:\n{self.log}"
                self._news.clear()
                await self._news.wait()

    async def _read(self, process: WarmProcess) -> None:
        while line := await process.stdout.readline():
            self.log += line.decode()
            if line.startswith(b"Console: "):
                self.console = line.decode().removeprefix("Console: ").strip()
            self._news.set()
        self._news.set()

    async def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.send_signal(how)
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if self._reader is not None:
            await self._reader


@asynccontextmanager
async def place_with(adb_server: AdbServer, directory: Path, **settings: str) -> AsyncIterator[Place]:
    """A place with one virtual phone attached."""
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        try:
            yield Place(phone, adb_server, directory, settings)
        finally:
            await adb_server.disconnect(phone.address)
