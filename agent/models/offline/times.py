"""Times of day as people and clocks write them."""

from __future__ import annotations

import re

_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.：](?P<minute>\d{2})|点(?:(?P<spoken>\d{1,2})分?|(?P<half>半))?)?"
    r"\s*(?:(?P<half_day>[ap])\.?m\.?|o'clock)?",
    re.IGNORECASE,
)
_AFTERNOON = ("下午", "晚上")


def time_of_day(text: str, half_day: str = "") -> str:
    """HH:MM on 24 hours, "" when the text is no time of day. `half_day` is a Chinese word such as 下午."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return ""
    hour = int(found["hour"])
    minute = 30 if found["half"] else int(found["minute"] or found["spoken"] or 0)
    letter = (found["half_day"] or "").lower()
    if letter and not 1 <= hour <= 12:
        return ""
    if letter == "p" or half_day in _AFTERNOON:
        hour = hour if hour >= 12 else hour + 12
    elif letter == "a" and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else ""
