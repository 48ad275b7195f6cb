"""The names of phones at an adb server, which identify each phone even if two share a serial number.

Some cheap phones all have the serial 0123456789ABCDEF, or none at all. adb then distinguishes them by their USB port
and accepts it as a name (AOSP transport.cpp, MatchesTarget). Here, such a phone is named by both:
`0123456789ABCDEF@usb:1-4`.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum

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
