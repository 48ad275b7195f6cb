"""The interface of the virtual phones (simulated Android phones), an optional part of the program. Importing this
module loads nothing heavy.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, Protocol

from devices.extras import load_part

PACKAGE: Final = "devices.virtual_phone"
ABSENT: Final = f"this installation lacks {PACKAGE.replace('.', '/')}. Install all of opengui-bot."
"""The sentence that explains why there are no virtual phones."""


class PhoneProcessFailed(Exception):
    """The virtual phones did not start; the message says why."""


class StartedPhone(Protocol):
    """A running virtual phone."""

    @property
    def address(self) -> str:
        """The address that adb connects to, as `host:port`."""

    @property
    def control(self) -> str:
        """The URL of the phone's control interface."""


class PhoneProcess(Protocol):
    """A process with virtual phones, which ends together with this process."""

    @property
    def phones(self) -> tuple[StartedPhone, ...]:
        """The running phones."""

    async def start(self) -> tuple[StartedPhone, ...]:
        """Start the phones and wait until all of them listen. Raises PhoneProcessFailed."""

    async def stop(self) -> None:
        """End the phones, which save their state first."""


class VirtualPhones(Protocol):
    """The functions that the optional part provides (`devices/virtual_phone/part.py`)."""

    def process(self, *, count: int, state: Path | None) -> PhoneProcess:
        """Return a process for `count` phones, not started yet. `state` is the folder in which they store their state;
        None for none.
        """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command-line options of `opengui phone`."""

    async def run(self, options: argparse.Namespace, *, adb: tuple[str, int]) -> None:
        """Run the phones that these options configure until a signal arrives or, if the options say so, standard input
        closes. `adb` is the default adb server (host, port). Raises OSError.
        """


def virtual_phones() -> VirtualPhones | None:
    """Return the optional part; None if it is not installed."""
    found: VirtualPhones | None = load_part(f"{PACKAGE}.part")
    return found
