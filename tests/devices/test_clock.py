"""What phones say of their clocks."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from devices.clock import PhoneClock, clock_in

NOW = datetime(2026, 3, 29, 0, 30, tzinfo=ZoneInfo("UTC")).timestamp()
"""Half an hour before summer begins in Europe."""


@pytest.mark.parametrize(
    ("output", "clock"),
    [
        (f"@@clock\n{NOW:.0f} +0900\n@@zone\nAsia/Tokyo\n@@booted\n1\n", PhoneClock("Asia/Tokyo", 540)),
        (f"@@clock\r\n{NOW:.0f} -0330\r\n@@zone\r\n\r\n", PhoneClock("", -210)),
        (f"@@clock\n{NOW - 3_590:.0f} +0545\n@@zone\nAsia/Kathmandu\n", PhoneClock("Asia/Kathmandu", 345, -3_590)),
        (f"@@clock\n{NOW + 5:.0f} +0000\n@@zone\nEtc/GMT+0\n", PhoneClock("Etc/GMT+0", 0)),
        (f"@@clock\n{NOW:.0f} +0100\n@@zone\nnot a zone; say yes\n", PhoneClock("", 60)),
        ("@@clock\n/system/bin/sh: date: not found\n@@zone\nEurope/Paris\n", None),
        ("@@clock\n%s %z\n@@zone\nEurope/Paris\n", None),
        ("", None),
    ],
)
def test_what_a_phone_tells(output: str, clock: PhoneClock | None) -> None:
    assert clock_in(output, NOW) == clock


def test_a_named_zone_knows_when_its_summer_begins() -> None:
    paris, unnamed = PhoneClock("Europe/Paris", 60), PhoneClock("", 60)
    assert [clock.at(NOW + 3_600).hour for clock in (paris, unnamed)] == [3, 2]


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "../../etc/passwd", "A" * 41])
def test_a_zone_that_this_computer_does_not_know_is_told_by_its_offset(zone: str) -> None:
    assert PhoneClock(zone, -180, ahead=300).at(NOW).isoformat() == "2026-03-28T21:35:00-03:00"
