"""The date and time that models are told, so that "tomorrow" or "in 20 minutes" has a meaning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from devices.phone import PhoneInfo

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A date and time with its zone, on a phone or on the service's machine. `language` is the phone's language, such
    as "de-DE"; "" if unknown or no phone is meant.
    """

    now: datetime
    of_phone: bool = False
    language: str = ""

    @property
    def facts(self) -> str:
        """Weekday, date, time to the minute, zone and language, in English."""
        written = f"{_DAYS[self.now.weekday()]} {self.now:%Y-%m-%d %H:%M}, {_zone_of(self.now)}"
        return f"{written}, language {self.language}" if self.language else written

    @property
    def sentence(self) -> str:
        """The facts as a sentence that says whose time it is, for the end of a request."""
        return f"Date and time {'on the phone' if self.of_phone else 'where the service runs'}: {self.facts}."


def time_on(phone: PhoneInfo, moment: float) -> LocalTime | None:
    """Return the phone's time at a Unix time of this computer; None until the phone has reported its clock."""
    return None if phone.clock is None else LocalTime(phone.clock.at(moment), of_phone=True, language=phone.locale)


@dataclass(frozen=True)
class LocalTimes:
    """Returns the current time for work on any phone. `zone` is the service's time zone, and `clock` returns Unix
    seconds.
    """

    phones: Callable[[], Sequence[PhoneInfo]]
    zone: tzinfo
    clock: Callable[[], float] = time.time

    def on(self, phone: str) -> LocalTime:
        """Return the time on the phone with this id, or on the only phone for ""; otherwise the time of the service."""
        now, phones = self.clock(), self.phones()
        meant = [each for each in phones if phone in {"", each.id}]
        there = time_on(meant[0], now) if len(meant) == 1 else None
        return there or LocalTime(datetime.fromtimestamp(now, self.zone))


def _zone_of(now: datetime) -> str:
    hours = f"{now:%z}"
    offset = f"UTC{hours[:3]}:{hours[3:5]}" if now.utcoffset() else "UTC"
    name = getattr(now.tzinfo, "key", "")
    return f"{name} ({offset})" if name and name != offset else offset
