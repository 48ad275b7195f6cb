"""The date and time that models are given, so that "tomorrow" or "in 20 minutes" has a meaning."""

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
    """A date and time with its zone, on a phone or on the service's machine.

    `language` is the phone's language, such as "de-DE"; "" if it is unknown or the time is not that of a phone.
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
    """Return the phone's date and time at a moment of this computer (Unix seconds); None until the phone has reported
    its clock.
    """
    return None if phone.clock is None else LocalTime(phone.clock.at(moment), of_phone=True, language=phone.locale)


@dataclass(frozen=True)
class LocalTimes:
    """Provides the current time on any phone. `phones` returns the known phones, `zone` is the service's time zone, and
    `clock` returns Unix seconds.
    """

    phones: Callable[[], Sequence[PhoneInfo]]
    zone: tzinfo
    clock: Callable[[], float] = time.time

    def on(self, phone: str) -> LocalTime:
        """Return the time on the phone with this id or, for "", on the only phone. If there is no such phone, or it has
        not reported its clock, return the time of the service.
        """
        now, phones = self.clock(), self.phones()
        meant = [each for each in phones if phone in {"", each.id}]
        there = time_on(meant[0], now) if len(meant) == 1 else None
        return there or LocalTime(datetime.fromtimestamp(now, self.zone))


def _zone_of(now: datetime) -> str:
    hours = f"{now:%z}"
    offset = f"UTC{hours[:3]}:{hours[3:5]}" if now.utcoffset() else "UTC"
    name = getattr(now.tzinfo, "key", "")
    return f"{name} ({offset})" if name and name != offset else offset
