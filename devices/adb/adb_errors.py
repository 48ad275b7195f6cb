"""What adb says when something is wrong, turned into the errors of this package with a way to mend it."""

from __future__ import annotations

from typing import Final

from devices.adb.serials import Way, way_to
from devices.errors import PhoneError, PhoneGone, PhoneUnavailable
from devices.wording import Words, words

AUTHORISE = words("phone.untrusted.fix")
_RECONNECT: Final = {
    Way.CABLE: words("phone.mute.fix"),
    Way.NETWORK: words("phone.mute.fix_network"),
    Way.HERE: words("phone.mute.fix_here"),
}


def reconnecting(serial: str) -> Words:
    """What to do about a phone that adb lists and that does not answer."""
    return _RECONNECT[way_to(serial)]


def error_for(message: str, serial: str) -> PhoneError:
    """The error for a refusal of the adb server; the request was not passed on, so nothing is uncertain.

    The wordings are those of adb's `transport.cpp` (acquire_one_transport) and of its `services.cpp`.
    """
    text = message.lower()
    if "unauthorized" in text:
        return PhoneUnavailable(words("phone.error.untrusted", serial=serial, fix=AUTHORISE))
    if "authorizing" in text or "connecting" in text or "offline" in text:
        # A link that broke is listed as offline until adb gives up or reconnects: it may be back in a moment.
        return PhoneGone(words("phone.error.mute", serial=serial, fix=reconnecting(serial)), uncertain=False)
    # Of whatever it does not find adb says "insufficient permissions" while it lists any phone that it may not use.
    if any(said in text for said in ("not found", "no devices", "no such device", "insufficient permissions")):
        return PhoneGone(words("phone.error.away", serial=serial), uncertain=False)
    reason = message.strip() or words("phone.error.no_reason")
    return PhoneGone(words("phone.error.lost", serial=serial, reason=reason), uncertain=False)
