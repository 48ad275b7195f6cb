"""Translates adb's words for the state of a link, and its errors, into health and errors that say what to do."""

from __future__ import annotations

from typing import Final

from devices.adb.serials import Way, way_to
from devices.errors import PhoneError, PhoneGone, PhoneUnavailable
from devices.phone import Health
from devices.wording import Words, words

AUTHORISE = words("phone.untrusted.fix")
_RECONNECT: Final = {
    Way.CABLE: words("phone.mute.fix"),
    Way.NETWORK: words("phone.mute.fix_network"),
    Way.HERE: words("phone.mute.fix_here"),
}

ATTACHED = "device"
STARTING = words("phone.booting.reason")
"""Why a phone does not identify itself while Android starts."""
SILENT = words("phone.starting.fix")
"""What to do about a phone that adb lists as attached but that answers nothing."""
_OTHER_SYSTEMS = frozenset({"recovery", "sideload", "rescue", "bootloader"})
_CONNECTING = (words("phone.connecting.reason"), words("phone.connecting.fix"))
_RARE = {
    "authorizing": _CONNECTING,
    "connecting": _CONNECTING,
    "host": (words("phone.computer.reason"), words("phone.computer.fix")),
    "detached": (words("phone.detached.reason"), words("phone.detached.fix")),
}


def reconnecting(serial: str) -> Words:
    """Return what to do about a phone that adb lists but that does not answer, depending on how it is connected."""
    return _RECONNECT[way_to(serial)]


def error_for(message: str, serial: str) -> PhoneError:
    """Return the error for a refusal by the adb server. The request did not reach the phone, so it is not marked
    uncertain.

    The messages are those of adb's `transport.cpp` (acquire_one_transport) and `services.cpp`.
    """
    text = message.lower()
    if "unauthorized" in text:
        return PhoneUnavailable(words("phone.error.untrusted", serial=serial, fix=AUTHORISE))
    if "authorizing" in text or "connecting" in text or "offline" in text:
        # A broken link is listed as offline until adb gives up or reconnects: it may return in a moment.
        return PhoneGone(words("phone.error.mute", serial=serial, fix=reconnecting(serial)), uncertain=False)
    # For anything it does not find, adb says "insufficient permissions" while it lists any phone it may not use.
    if any(said in text for said in ("not found", "no devices", "no such device", "insufficient permissions")):
        return PhoneGone(words("phone.error.away", serial=serial), uncertain=False)
    reason = message.strip() or words("phone.error.no_reason")
    return PhoneGone(words("phone.error.lost", serial=serial, reason=reason), uncertain=False)


def health_of(state: str, serial: str) -> tuple[Health, Words, Words]:
    """Return health, reason and fix for a phone in this state other than `device`; "" means that adb does not list it.

    The states are those of adb's `to_string(ConnectionState)`.
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
