"""The operator's currency and time zone: shows amounts of money as text, and computes when days begin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

_currency: ContextVar[str] = ContextVar("currency", default="")


@contextmanager
def counting_in(currency: str) -> Iterator[None]:
    """Context manager: `money` uses this currency until the block ends, also in asyncio tasks begun inside it. ""
    shows no currency.
    """
    before = _currency.set(currency)
    try:
        yield
    finally:
        _currency.reset(before)


def money(amount: float) -> str:
    """Return an amount as text: "0.0123", with a currency sign "$0.0123", with letters "0.0123 EUR"."""
    currency, number = _currency.get(), f"{amount:.4f}"
    if not currency:
        return number
    return f"{number} {currency}" if currency.isalpha() else f"{currency}{number}"


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
