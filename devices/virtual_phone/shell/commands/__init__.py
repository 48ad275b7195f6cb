"""All programs of the phone's shell, by name."""

from __future__ import annotations

from devices.virtual_phone.shell.commands import activity, basic, device, dumpsys, files, frame, packages, touches
from devices.virtual_phone.shell.interpreter import Family

COMMANDS: Family = {
    **basic.FAMILY,
    **files.FAMILY,
    **frame.FAMILY,
    **touches.FAMILY,
    **activity.FAMILY,
    **packages.FAMILY,
    **dumpsys.FAMILY,
    **device.FAMILY,
}
