"""Every program of the phone's shell, by name."""

from __future__ import annotations

from devices.simulator.shell.call import Family
from devices.simulator.shell.commands import activity, archives, basic, device, dumpsys, files, frame, packages, touches
from devices.simulator.uiautomator import programs

COMMANDS: Family = {
    **basic.FAMILY,
    **files.FAMILY,
    **frame.FAMILY,
    **touches.FAMILY,
    **activity.FAMILY,
    **packages.FAMILY,
    **dumpsys.FAMILY,
    **device.FAMILY,
    **programs.FAMILY,
    **archives.FAMILY,
}
