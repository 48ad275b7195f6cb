"""Finds phones on this computer's USB that adb does not list, because debugging is off or Android has not started.

adb recognises a phone by its own interface (AOSP packages/modules/adb/adb.h: ADB_CLASS, ADB_SUBCLASS, ADB_PROTOCOL). A
phone that only offers its files has a camera's interface (PTP/MTP), and one in its bootloader has that of fastboot.
Linux shows the interfaces as files; on other systems nothing is found.
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
"""Phone makers by USB vendor id, needed because cameras have the file interface too."""


class Lack(StrEnum):
    """Why adb does not list a phone."""

    DEBUGGING_OFF = auto()
    BOOTLOADER = auto()


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A phone on USB that adb does not list: the name that it reports, and why."""

    name: str
    lack: Lack


def unlisted(bus: Path = BUS) -> tuple[Unlisted, ...]:
    """Return the phones on USB that adb does not list. Blocks for a few small reads."""
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
