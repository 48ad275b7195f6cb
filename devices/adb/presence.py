"""adb's words for the state of a link, as health with reason and fix."""

from __future__ import annotations

from devices.adb.complaints import AUTHORISE, PERMISSION, RECONNECT
from devices.phone import Health

ATTACHED = "device"
SILENT = "Wait until it has started; if it stays silent, restart the phone."
"""What to do about a phone that adb lists as attached and that answers nothing."""
_OTHER_SYSTEMS = frozenset({"recovery", "sideload", "rescue", "bootloader"})


def health_of(state: str) -> tuple[Health, str, str]:
    """Health, reason and fix for a state that is not `device`; an empty state is a phone that is not listed.

    The words are those of adb's `to_string(ConnectionState)`.
    """
    if not state:
        return Health.OFFLINE, "The phone is not attached.", "Plug it in, or switch its Wi-Fi debugging on."
    if state.startswith("no permissions"):
        return Health.NO_PERMISSION, "This computer may not use the USB device.", PERMISSION
    if state == "unauthorized":
        return Health.UNAUTHORIZED, "The phone does not trust this computer yet.", AUTHORISE
    if state in _OTHER_SYSTEMS:
        return Health.OFFLINE, f"The phone is in {state} mode.", "Restart it into Android."
    return Health.OFFLINE, "The phone is attached but does not answer.", RECONNECT
