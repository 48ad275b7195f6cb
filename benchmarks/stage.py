"""Where it is measured: an adb server of its own, the virtual phone and the service each in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.journey import think
from devices.adb import host
from devices.adb.server import ServerAddress, adb_binary, ensure_running, server_environment
from devices.simulator.process import SimulatorProcess
from tests.fakes.model_server import ModelServer

REAL_PHONE = {"frame_ms": 250, "input_ms": 60}
"""Milliseconds that a phone of today takes for a raw frame and for an input."""
TASK_S = 300.0


@dataclass(frozen=True)
class Stage:
    """Runs tasks through the service and keeps its data from one to the next."""

    directory: Path
    adb: ServerAddress
    serial: str
    control: str
    model_seconds: float

    async def run(self, settings: Mapping[str, str] | None = None) -> ModelServer:
        """One task from its start to its end. Returns the endpoint with the requests that it got.

        Raises RuntimeError with what the service said when the task did not succeed.
        """
        async with ModelServer(partial(think, self.model_seconds)) as server:
            environment = {
                **{name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ},
                "HOME": str(self.directory),
                "PYTHONPATH": str(Path(__file__).parents[1]),
                "ADB_SERVERS": str(self.adb),
                "ANDROID_SERIALS": self.serial,
                "VIRTUAL_PHONES": "0",
                # The virtual phone's slowness is that of commands; through the helper it would be too quick.
                "FAST_LANE": "off",
                "DATA_DIR": str(self.directory / "data"),
                "VLM_BASE_URL": server.base_url,
                "VLM_MODEL": "scripted",
                "LOG_LEVEL": "WARNING",
                **(settings or {}),
            }
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bot.cli", "do", "--quick", "--json", "Look around on the phone"),
                cwd=self.directory,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(TASK_S):
                    out, err = await process.communicate()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            if process.returncode:
                raise RuntimeError(f"the task did not succeed:\n{out.decode()}\n{err.decode()}")
        return server

    async def faults(self, values: Mapping[str, Any]) -> None:
        """Sets faults of the virtual phone."""
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self.control}/faults", data=json.dumps(values)) as answer,
        ):
            answer.raise_for_status()

    def database_bytes(self) -> int:
        """The size of all database files."""
        return sum(path.stat().st_size for path in (self.directory / "data").glob("*.sqlite3*"))


@asynccontextmanager
async def stage(model_seconds: float) -> AsyncIterator[Stage]:
    """A stage with a virtual phone as slow as a real one; everything of it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="opengui-bench-") as name:
        directory = Path(name)
        os.environ.update(HOME=name, ADB_EMU="0", ADB_MDNS="0", ADB_LIBUSB="0")
        adb = ServerAddress(port=_free_port())
        await ensure_running(adb)
        simulator = SimulatorProcess()
        try:
            phone = (await simulator.start())[0]
            await _connect(adb, phone.address)
            made = Stage(directory, adb, phone.address, phone.control, model_seconds)
            await made.faults(REAL_PHONE)
            yield made
        finally:
            await simulator.stop()
            await asyncio.to_thread(_stop, adb)


def _stop(adb: ServerAddress) -> None:
    subprocess.run(
        [adb_binary(), "-P", str(adb.port), "kill-server"], env=server_environment(adb), check=False, timeout=10
    )


async def _connect(adb: ServerAddress, serial: str) -> None:
    await host.connect(adb, serial)
    async with asyncio.timeout(TASK_S), aclosing(host.track(adb)) as lists:
        async for states in lists:
            if states.get(serial) == "device":
                return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
