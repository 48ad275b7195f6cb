"""Phones on this computer's USB that adb does not list: debugging is off on them, or they have not started Android.

adb knows a phone by an interface of its own (AOSP packages/modules/adb/adb.h: ADB_CLASS, ADB_SUBCLASS, ADB_PROTOCOL).
One that only offers its files has the interface of a camera (PTP/MTP), one in its bootloader that of fastboot. Linux
tells this in files; elsewhere nothing is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path

BUS = Path("/sys/bus/usb/devices")
_ADB = ("ff", "42", "01")
_FASTBOOT = ("ff", "42", "03")
_FILES = ("06", "01", "01")
MAKERS = {
    "04e8": "Samsung",
    "05c6": "Qualcomm",
    "0b05": "Asus",
    "0bb4": "HTC",
    "0e8d": "MediaTek",
    "0fce": "Sony",
    "1004": "LG",
    "12d1": "Huawei",
    "1782": "Unisoc",
    "17ef": "Lenovo",
    "18d1": "Google",
    "19d2": "ZTE",
    "1bbb": "TCL",
    "22b8": "Motorola",
    "22d9": "Oppo",
    "2717": "Xiaomi",
    "2a45": "Meizu",
    "2a70": "OnePlus",
    "2ae5": "Fairphone",
    "2d95": "vivo",
    "2e04": "HMD",
    "339b": "Honor",
}
"""Makers of phones by their USB vendor id: cameras have that interface, too."""


class Lack(StrEnum):
    """Why adb does not list a phone."""

    DEBUGGING_OFF = auto()
    BOOTLOADER = auto()


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A phone on USB, as it calls itself."""

    name: str
    lack: Lack


def unlisted(bus: Path = BUS) -> tuple[Unlisted, ...]:
    """The phones that adb cannot see. Blocks for a few small reads."""
    found = []
    for device in sorted(bus.glob("*")) if bus.is_dir() else ():
        if ":" in device.name or not (device / "idVendor").is_file():
            continue
        kinds = {_kind(interface) for interface in bus.glob(f"{device.name}:*")}
        if _FASTBOOT in kinds:
            found.append(Unlisted(_name(device), Lack.BOOTLOADER))
        elif _FILES in kinds and _ADB not in kinds and _read(device / "idVendor") in MAKERS:
            found.append(Unlisted(_name(device), Lack.DEBUGGING_OFF))
    return tuple(found)


def _kind(interface: Path) -> tuple[str, ...]:
    return tuple(_read(interface / f"bInterface{part}") for part in ("Class", "SubClass", "Protocol"))


def _name(device: Path) -> str:
    words = [_read(device / part) for part in ("manufacturer", "product")]
    return " ".join(dict.fromkeys(filter(None, words))) or MAKERS.get(_read(device / "idVendor"), device.name)


def _read(path: Path) -> str:
    try:
        return " ".join(path.read_text("utf-8", "replace").split())
    except OSError:
        return ""
