"""The adb server: its address, and starting the local one if it is not running."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.resources
import logging
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import adbutils

from devices.errors import PhoneGone, PhoneUnavailable
from devices.processes import child_environment
from devices.wording import words

logger = logging.getLogger(__name__)

DEFAULT_PORT = 5037
"""The port on which adb listens unless ANDROID_ADB_SERVER_PORT says otherwise."""

START_TIMEOUT = 20.0
"""Seconds for an adb server to start; 3 s were measured with USB, and Android's own client waits as long."""

CONNECT_TIMEOUT = 1.0
"""Seconds for an adb server to accept a connection; a running one takes milliseconds."""
USB_BUS = Path("/dev/bus/usb")
READ_BY_ADB = (
    "ADB_EMU",
    "ADB_INSTALL_DEFAULT_INCREMENTAL",
    "ADB_LIBUSB",
    "ADB_LIBUSB_START_DETACHED",
    "ADB_LOCAL_TRANSPORT_MAX_PORT",
    "ADB_MDNS",
    "ADB_MDNS_AUTO_CONNECT",
    "ADB_MDNS_OPENSCREEN",
    "ADB_TRACE",
    "ADB_VENDOR_KEYS",
    "ANDROID_ADB_LOG_PATH",
    "ANDROID_ADB_SERVER_PORT",
    "ANDROID_SDK_HOME",
    "ANDROID_USER_HOME",
    "ANDROID_VENDOR_KEYS",
)
"""Variables that adb reads (its manual page, docs/user/adb.1.md), and where it looks for its keys."""
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Host and port of an adb server."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @classmethod
    def parse(cls, text: str) -> ServerAddress:
        """Parse `host`, `host:port` or `:port`. Raises ValueError with a sentence for people."""
        host, _, port = text.strip().rpartition(":") if ":" in text else (text.strip(), "", "")
        if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError(f"{text!r} is no adb server address: write host:port, such as 127.0.0.1:{DEFAULT_PORT}.")
        return cls(host or "127.0.0.1", int(port) if port else DEFAULT_PORT)

    @property
    def local(self) -> bool:
        """Whether the server is on this computer, so that it may be started here."""
        return self.host in _LOCAL

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


async def answers(address: ServerAddress) -> bool:
    """Return whether something listens at the address."""
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            _, writer = await asyncio.open_connection(address.host, address.port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def ensure_running(address: ServerAddress) -> None:
    """Wait until an adb server listens at the address, starting a local one if needed.

    Raises PhoneGone if it is on another computer and away, or does not start; PhoneUnavailable if adb reports an error
    when it is started.
    """
    if await answers(address):
        return
    if not address.local:
        raise PhoneGone(words("phone.error.server_none", address=address))
    await asyncio.get_running_loop().run_in_executor(None, _start, address)
    if not await answers(address):
        raise PhoneGone(words("phone.error.server_started", address=address))


def adb_binary() -> str:
    """Return the path of the adb program: ADBUTILS_ADB_PATH if set, otherwise adbutils' own, otherwise the one on
    PATH.

    adbutils itself prefers the one on PATH, which may be outdated.
    """
    chosen = os.environ.get("ADBUTILS_ADB_PATH")
    if chosen:
        return chosen
    bundled = importlib.resources.files("adbutils") / "binaries" / ("adb.exe" if os.name == "nt" else "adb")
    with importlib.resources.as_file(bundled) as path:
        if path.is_file():
            return str(path)
    return str(adbutils.adb_path())


def server_environment(address: ServerAddress) -> dict[str, str]:
    """Return the environment for a new adb server: that of any adb process, the port, and no USB if there is no bus.

    The server outlives its starter, and all processes of this user can read its environment. Without a USB bus,
    starting libusb costs 3 s; `ADB_LIBUSB=0` takes 0.01 s.
    """
    environment = child_environment(READ_BY_ADB, {"ANDROID_ADB_SERVER_PORT": str(address.port)})
    if not USB_BUS.exists():
        environment.setdefault("ADB_LIBUSB", "0")
    return environment


def _start(address: ServerAddress) -> None:
    binary = adb_binary()
    # Make adbutils run the same program.
    os.environ.setdefault("ADBUTILS_ADB_PATH", binary)
    try:
        ended = subprocess.run(  # noqa: S603  # a fixed program with fixed words
            [binary, "-P", str(address.port), "start-server"],
            env=server_environment(address),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as failure:
        problem = type(failure).__name__
        raise PhoneGone(words("phone.error.server_failed", binary=binary, problem=problem)) from failure
    if ended.returncode:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        problem = last or words("phone.error.exit_code", code=ended.returncode)
        raise PhoneUnavailable(words("phone.error.server_ended", problem=problem))
    logger.info("adb server started at %s", address)
