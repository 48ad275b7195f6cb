"""The border to the virtual phones, a part that a program may come without. Nothing heavy is loaded here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, Protocol

from devices.parts import load_part

PACKAGE: Final = "devices.virtual_phone"
ABSENT: Final = f"this installation lacks {PACKAGE.replace('.', '/')}. Install all of opengui-bot."
"""Why there are none without the part."""


class PhoneProcessFailed(Exception):
    """The virtual phones did not start; the message says why."""


class StartedPhone(Protocol):
    """A running virtual phone."""

    @property
    def address(self) -> str:
        """Where adb connects to, as `host:port`."""
        ...

    @property
    def control(self) -> str:
        """The URL of its control interface."""
        ...


class PhoneProcess(Protocol):
    """A process with virtual phones, which ends with this one."""

    @property
    def phones(self) -> tuple[StartedPhone, ...]:
        """Those that run."""
        ...

    async def start(self) -> tuple[StartedPhone, ...]:
        """Start them and wait until all listen. Raises PhoneProcessFailed."""
        ...

    async def stop(self) -> None:
        """End them; they save their state."""
        ...


class VirtualPhones(Protocol):
    """What the part offers: the functions of `devices/virtual_phone/part.py`."""

    def process(self, *, count: int, state: Path | None) -> PhoneProcess:
        """A process with `count` phones, not started yet. They remember what was done on them in the folder `state`."""
        ...

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of `opengui phone`."""
        ...

    async def run(self, options: argparse.Namespace, *, adb: tuple[str, int]) -> None:
        """Serve the phones of these options until a signal. Raises OSError."""
        ...


def virtual_phones() -> VirtualPhones | None:
    """The part, None where it is not installed."""
    found: VirtualPhones | None = load_part(f"{PACKAGE}.part")
    return found
