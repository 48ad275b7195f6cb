"""What hangs on the computer, in the files of Linux's sysfs."""

from __future__ import annotations

from pathlib import Path

from devices.adb.examination import Lack, Unlisted, unlisted

MTP, ADB, FASTBOOT, DISK = ("06", "01", "01"), ("ff", "42", "01"), ("ff", "42", "03"), ("08", "06", "50")


def plugged(bus: Path, port: str, vendor: str, names: tuple[str, ...], *interfaces: tuple[str, str, str]) -> None:
    device = bus / port
    device.mkdir(parents=True)
    (device / "idVendor").write_text(f"{vendor}\n")
    for part, name in zip(("manufacturer", "product"), names, strict=False):
        (device / part).write_text(f"{name}\n")
    for number, kind in enumerate(interfaces):
        interface = bus / f"{port}:1.{number}"
        interface.mkdir()
        for part, value in zip(("Class", "SubClass", "Protocol"), kind, strict=True):
            (interface / f"bInterface{part}").write_text(f"{value}\n")


def test_a_phone_without_debugging_and_one_in_its_bootloader(tmp_path: Path) -> None:
    plugged(tmp_path, "1-1", "18d1", ("Google", "Pixel 7"), MTP)
    plugged(tmp_path, "1-2", "18d1", ("Google", "Pixel 8"), MTP, ADB)
    plugged(tmp_path, "1-3.1", "2717", ("Xiaomi", "Android"), FASTBOOT)
    plugged(tmp_path, "1-4", "04a9", ("Canon", "a camera"), MTP)
    plugged(tmp_path, "1-5", "0781", ("SanDisk", "a disk"), DISK)
    plugged(tmp_path, "1-6", "04e8", (), MTP)
    assert unlisted(tmp_path) == (
        Unlisted("Google Pixel 7", Lack.DEBUGGING_OFF),
        Unlisted("Xiaomi Android", Lack.BOOTLOADER),
        Unlisted("Samsung", Lack.DEBUGGING_OFF),
    )


def test_a_computer_without_such_files(tmp_path: Path) -> None:
    assert unlisted(tmp_path / "none") == ()
