"""The operator's time zone: by it days begin and schedules are read."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal


def zone_named(name: str) -> ZoneInfo:
    """The zone of this IANA name, such as "Europe/Berlin"; "" is the machine's own.

    Raises ValueError for a name that is no zone.
    """
    if not name:
        # A machine without a zone file still has an offset; tzlocal then says UTC.
        return tzlocal.get_localzone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a folder's name is an OSError
        raise ValueError(f"{name[:40]!r} is not the name of a time zone") from error


def day_of(moment: float, zone: ZoneInfo) -> date:
    """The day in which a Unix time falls there."""
    return datetime.fromtimestamp(moment, zone).date()


def day_begins(day: date, zone: ZoneInfo) -> float:
    """The Unix time at which a day begins there. Where midnight is skipped, the first moment after it."""
    return datetime.combine(day, time.min, zone).timestamp()


def last_days(days: int, now: float, zone: ZoneInfo) -> tuple[float, float]:
    """The last `days` days, today among them, as Unix times: from the beginning of the first to the end of today."""
    today = day_of(now, zone)
    return day_begins(today - timedelta(days=days - 1), zone), day_begins(today + timedelta(days=1), zone)
