"""Every program of the phone's shell, by name."""

from __future__ import annotations

from devices.simulator.shell.call import Family
from devices.simulator.shell.commands import basic, frame

COMMANDS: Family = {**basic.FAMILY, **frame.FAMILY}
