"""adb's words for the state of a link, as health with reason and fix."""

from __future__ import annotations

from devices.adb.adb_errors import AUTHORISE, reconnecting
from devices.adb.serials import Way, way_to
from devices.phone import Health
from devices.wording import Words, words

ATTACHED = "device"
STARTING = words("phone.booting.reason")
"""Why a phone does not tell who it is, while its Android starts."""
SILENT = words("phone.starting.fix")
"""What to do about a phone that adb lists as attached and that answers nothing."""
_OTHER_SYSTEMS = frozenset({"recovery", "sideload", "rescue", "bootloader"})
_CONNECTING = (words("phone.connecting.reason"), words("phone.connecting.fix"))
_RARE = {
    "authorizing": _CONNECTING,
    "connecting": _CONNECTING,
    "host": (words("phone.computer.reason"), words("phone.computer.fix")),
    "detached": (words("phone.detached.reason"), words("phone.detached.fix")),
}


def health_of(state: str, serial: str) -> tuple[Health, Words, Words]:
    """Health, reason and fix for a state that is not `device`; an empty state is a phone that is not listed.

    The words are those of adb's `to_string(ConnectionState)`.
    """
    if not state:
        fix = words("phone.away.fix_here") if way_to(serial) is Way.HERE else words("phone.away.fix")
        return Health.OFFLINE, words("phone.away.reason"), fix
    if state.startswith("no permissions"):
        return Health.NO_PERMISSION, words("phone.no_permission.reason"), words("phone.no_permission.fix")
    if state == "unauthorized":
        return Health.UNAUTHORIZED, words("phone.untrusted.reason"), AUTHORISE
    if state in _OTHER_SYSTEMS:
        return Health.OFFLINE, words("phone.other_system.reason", mode=state), words("phone.other_system.fix")
    return Health.OFFLINE, *_RARE.get(state, (words("phone.mute.reason"), reconnecting(serial)))
