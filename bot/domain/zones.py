"""Days and time zones: looks up the operator's time zone, and computes when days begin in it."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal


def zone_named(name: str) -> ZoneInfo:
    """Return the time zone with this IANA name, such as "Europe/Berlin"; "" is the machine's own. Raises ValueError
    for an unknown name.
    """
    if not name:
        # A machine without a zone file still has an offset; tzlocal then says UTC.
        return tzlocal.get_localzone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a folder's name is an OSError
        raise ValueError(f"{name[:40]!r} is not the name of a time zone") from error


def day_of(moment: float, zone: ZoneInfo) -> date:
    """Return the calendar day of a Unix time in a time zone."""
    return datetime.fromtimestamp(moment, zone).date()


def day_begins(day: date, zone: ZoneInfo) -> float:
    """Return the Unix time at which a day begins in a time zone. If midnight is skipped, it is the first moment after
    it.
    """
    return datetime.combine(day, time.min, zone).timestamp()


def last_days(days: int, now: float, zone: ZoneInfo) -> tuple[float, float]:
    """Return the begin of the first and the end of the last of the last `days` days, today included, as Unix times."""
    today = day_of(now, zone)
    return day_begins(today - timedelta(days=days - 1), zone), day_begins(today + timedelta(days=1), zone)
