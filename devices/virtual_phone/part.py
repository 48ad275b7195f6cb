"""The functions of the virtual phones that the rest of the program uses (see `devices.virtual`). Only `run` loads
fonts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from devices.virtual_phone.options import add_options

if TYPE_CHECKING:
    from devices.virtual_phone.process import PhoneProcess

__all__ = ["add_options", "process", "run"]


def process(*, count: int, state: Path | None) -> PhoneProcess:
    """Return a process for `count` phones, not started yet. See `VirtualPhones.process`."""
    from devices.virtual_phone.process import PhoneProcess  # noqa: PLC0415 - most commands only add the options

    return PhoneProcess(count=count, state=state)


async def run(options: argparse.Namespace, *, adb: tuple[str, int]) -> None:
    """Run the phones that these options configure until they are to end. See `VirtualPhones.run`."""
    from devices.virtual_phone import runner  # noqa: PLC0415 - it loads the fonts

    await runner.run(options, adb=adb)
