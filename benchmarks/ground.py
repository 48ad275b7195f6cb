"""What every measurement stands on: an adb server of its own, virtual phones in a process of their own, a directory."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Process, with_words
from devices.adb import host
from devices.adb.server import ServerAddress, adb_binary, ensure_running, server_environment
from devices.virtual_phone.faults import FaultValue
from devices.virtual_phone.process import PhoneProcess, StartedPhone

REAL_PHONE: Mapping[str, int] = {"frame_ms": 250, "input_ms": 60}
"""Milliseconds that a phone of today takes for a raw frame and for an input."""
FOREIGN_PHONE: Mapping[str, int] = {
    "frame_ms": 250,
    "tree_ms": 950,
    "dumpsys_ms": 42,
    "input_ms": 110,
    "lane_start_ms": 1200,
    "lane_ms": 50,
    "lane_frame_ms": 200,
}
"""The same of a phone that was measured elsewhere: `uiautomator dump` takes 1.2 s there, all of its state a quarter of
a second, one part of it 40 ms; a picture takes as long by the helper as without it.
"""
TASK_S = 600.0


@dataclass(frozen=True)
class Ground:
    """The phones are connected to the adb server."""

    directory: Path
    adb: ServerAddress
    phones: tuple[StartedPhone, ...]

    def environment(self, base_url: str) -> dict[str, str]:
        """For a service that works with these phones and this endpoint, and with nothing of the machine's."""
        return {
            **{name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ},
            "HOME": str(self.directory),
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "ADB_SERVERS": str(self.adb),
            "ANDROID_SERIALS": ",".join(phone.address for phone in self.phones),
            "VIRTUAL_PHONES": "0",
            # The virtual phone's slowness is that of commands; through the helper it would be too quick.
            "FAST_LANE": "off",
            "DATA_DIR": str(self.directory / "data"),
            "CONSOLE_PORT": "0",
            "VLM_BASE_URL": base_url,
            "VLM_MODEL": "scripted",
            "LOG_LEVEL": "WARNING",
        }

    def phone_process(self) -> Process:
        """The process of the virtual phones."""
        return with_words("devices.virtual_phone", parent=os.getpid())

    def adb_server(self) -> Process:
        """The process of the adb server."""
        return with_words(f":{self.adb.port}", program="adb")


@asynccontextmanager
async def ground(count: int = 1, faults: Mapping[str, FaultValue] = REAL_PHONE) -> AsyncIterator[Ground]:
    """So many phones, as slow as real ones; everything of it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="opengui-bench-") as name:
        os.environ.update(HOME=name, ADB_EMU="0", ADB_MDNS="0", ADB_LIBUSB="0")
        adb = ServerAddress(port=_free_port())
        await ensure_running(adb)
        phone_process = PhoneProcess(count=count, faults=faults)
        try:
            phones = await phone_process.start()
            await _connect(adb, {phone.address for phone in phones})
            yield Ground(Path(name), adb, phones)
        finally:
            await phone_process.stop()
            await asyncio.to_thread(_stop, adb)


def _stop(adb: ServerAddress) -> None:
    subprocess.run(
        [adb_binary(), "-P", str(adb.port), "kill-server"], env=server_environment(adb), check=False, timeout=10
    )


async def _connect(adb: ServerAddress, serials: set[str]) -> None:
    await asyncio.gather(*(host.connect(adb, serial) for serial in serials))
    async with asyncio.timeout(TASK_S), aclosing(host.track(adb)) as lists:
        async for states in lists:
            if {serial for serial in serials if states.get(serial) == "device"} == serials:
                return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
