"""The phones that an adb server lists: their names, which identify each phone even if two share a serial number, and
the state of their links as health and errors that say what to do.

Some cheap phones all have the serial 0123456789ABCDEF, or none at all. adb then distinguishes them by their USB port
and accepts it as a name (AOSP transport.cpp, MatchesTarget). Here, such a phone is named by both:
`0123456789ABCDEF@usb:1-4`.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from typing import Final

from devices.errors import PhoneError, PhoneGone, PhoneUnavailable
from devices.phone import Health
from devices.wording import Words, words

_HERE = re.compile(r"emulator-\d+|(?:127(?:\.\d+){3}|localhost|\[::1\]):\d+")
_NONE = "(no serial number)"
_STATES = (
    "device|offline|unauthorized|authorizing|connecting|bootloader|recovery|rescue|sideload|host|detached|"
    "no device|no permissions.*?|unknown"
)
"""AOSP `ConnectionState` as adb writes it. A serial may contain spaces: adb numbers a service name found twice on the
network, `adb-… (2)._adb-tls-connect._tcp`.
"""
_LINE = re.compile(
    rf"(?P<serial>\S.*?)\s+(?P<state>{_STATES})"
    r"(?:\s+(?P<path>usb:\S+))?(?:\s+(?:product|model|device):\S*)*(?:\s+transport_id:\d+)?"
)


class Way(StrEnum):
    """How a phone is connected, which decides how a person repairs a broken link."""

    CABLE = "cable"
    NETWORK = "network"
    HERE = "here"
    """At an address of this computer: a virtual phone, an emulator, or the end of a tunnel."""


def parse_states(listed: str) -> dict[str, str]:
    """Parse lines of `serial TAB state` into states by serial."""
    return dict(line.split("\t", 1) for line in listed.splitlines() if "\t" in line)


def told_apart(listed: str) -> bool:
    """Return whether the serials in such a list are unique, so that they identify all its phones."""
    serials = [line.partition("\t")[0] for line in listed.splitlines() if "\t" in line]
    return len({*serials}) == len(serials) and _NONE not in serials


def parse_long(listed: str) -> dict[str, str]:
    """Parse the long list (`adb devices -l`) into states by serial. The USB port is added to ambiguous serials."""
    found = [match for line in listed.splitlines() if (match := _LINE.fullmatch(line.strip()))]
    times = Counter(match["serial"] for match in found)
    return {
        f"{match['serial']}@{match['path']}"
        if match["path"] and (times[match["serial"]] > 1 or match["serial"] == _NONE)
        else match["serial"]: match["state"]
        for match in found
    }


def target(name: str) -> str:
    """Return the name that adb accepts for this phone: the USB port if the name contains it, else the serial."""
    return name.rpartition("@")[2] if "@usb:" in name else name


def known_as(name: str) -> frozenset[str]:
    """Return the names that people may use for this phone: the full name, the serial and the USB port."""
    return frozenset({name, target(name), name.partition("@usb:")[0]})


def dialled(name: str) -> bool:
    """Return whether the name is an address that adb must be told to connect to (`host:port`)."""
    return ":" in target(name) and not target(name).startswith("usb:")


def on_network(name: str) -> bool:
    """Return whether the phone is connected over the network. adb finds some of these itself, by the name of their
    service.
    """
    return dialled(name) or "._adb" in name


def way_to(name: str) -> Way:
    """Return how the phone with this name is connected."""
    if _HERE.fullmatch(target(name)):
        return Way.HERE
    return Way.NETWORK if on_network(name) else Way.CABLE


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
