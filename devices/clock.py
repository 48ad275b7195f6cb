"""A phone's own date and time, which may differ from those of the computer it is attached to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

ASK: Final = "echo @@clock; date '+%s %z'; echo @@zone; getprop persist.sys.timezone; "
"""The shell commands that print the phone's clock and time zone."""
_TOLD: Final = re.compile(r"^@@clock\r?\n(\d{1,11}) ([+-])(\d\d)(\d\d)\r?$", re.MULTILINE)
_ZONE: Final = re.compile(r"^@@zone\r?\n([A-Za-z][A-Za-z0-9_+\-/]{1,40})\r?$", re.MULTILINE)

_AS_GOOD_AS_EQUAL: Final = 5
"""Seconds of difference that are ignored, because the answer takes time to arrive."""


@dataclass(frozen=True, slots=True)
class PhoneClock:
    """How a phone's clock differs from this computer's.

    - `zone`: IANA name of its time zone, such as "Asia/Tokyo"; "" if unknown.
    - `offset`: Minutes ahead of UTC when it was read.
    - `ahead`: Seconds by which its clock was ahead of this computer's; 0 for small differences.
    """

    zone: str
    offset: int
    ahead: int = 0

    def at(self, moment: float) -> datetime:
        """Return the date and time that the phone shows at this Unix time of the computer, in the phone's time zone."""
        try:
            zone = ZoneInfo(self.zone) if self.zone else None
        except (ZoneInfoNotFoundError, ValueError, OSError):  # this computer need not know the name
            zone = None
        return datetime.fromtimestamp(moment + self.ahead, zone or timezone(timedelta(minutes=self.offset)))


def clock_in(output: str, now: float) -> PhoneClock | None:
    """Parse the output of `ASK` that arrived at the Unix time `now`; None if it contains no clock."""
    told = _TOLD.search(output)
    if told is None:
        return None
    ahead = round(int(told[1]) - now)
    zone, minutes = _ZONE.search(output), int(told[3]) * 60 + int(told[4])
    return PhoneClock(
        zone=zone[1] if zone else "",
        offset=-minutes if told[2] == "-" else minutes,
        ahead=ahead if abs(ahead) > _AS_GOOD_AS_EQUAL else 0,
    )
