"""Triggers: schedules whose tasks start when a phone gets a certain notification.

Whether a notification matches is decided by code, from its app, its words and the time of day. A model receives the
notification's text only as data.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from devices.notification import PhoneNotification

LATE: Final = 120.0
"""Seconds after which a notification no longer begins a task; missed ones are not made up for."""
PER_HOUR: Final = 6
"""Maximum tasks of one trigger in an hour, unless it says otherwise."""
MOST_PER_HOUR: Final = 60
MOST_WORDS: Final = 10
_QUIET: Final = re.compile(r"(\d{1,2})(?:[:：](\d{2}))?\s*(?:-|–|—|~|to|到|至)\s*(\d{1,2})(?:[:：](\d{2}))?")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class QuietHours(_Frozen):
    """Hours of the day in which a trigger starts nothing, as minutes since midnight: from `begins` to before `ends`,
    also across midnight.
    """

    begins: int = Field(ge=0, lt=1440)
    ends: int = Field(ge=0, lt=1440)

    def hold(self, local: datetime) -> bool:
        """Return whether this local time is within the quiet hours."""
        minute = local.hour * 60 + local.minute
        if self.begins <= self.ends:
            return self.begins <= minute < self.ends
        return minute >= self.begins or minute < self.ends

    def __str__(self) -> str:
        return "–".join(f"{minute // 60:02}:{minute % 60:02}" for minute in (self.begins, self.ends))


def quiet_hours(text: str) -> QuietHours | None:
    """Return the quiet hours in a text such as "22:00-07:00"; None if the text has another form or contains an
    impossible time.
    """
    found = _QUIET.fullmatch(text.strip())
    if found is None:
        return None
    hour, minute, to_hour, to_minute = (int(each or 0) for each in found.groups())
    begins, ends = hour * 60 + minute, to_hour % 24 * 60 + to_minute
    return None if hour > 23 or to_hour > 24 or max(minute, to_minute) > 59 else QuietHours(begins=begins, ends=ends)


class Trigger(_Frozen):
    """The conditions under which a notification on a phone starts a task."""

    phone: str
    """The id of the phone that gets them."""
    phone_name: str
    package: str
    """Package name of the app that shows them."""
    app: str
    """The app's name; "" if it shows SMS."""
    sender: str = ""
    """Words that the title must contain; "" for any title."""
    words: tuple[str, ...] = ()
    """Words that title and text must contain, all of them; () for any text."""
    quiet: QuietHours | None = None
    per_hour: int = Field(default=PER_HOUR, ge=1, le=MOST_PER_HOUR)
    """Maximum number of tasks in any hour."""

    @property
    def source(self) -> str:
        """Text that describes the source of these notifications to a model."""
        return f"a notification of {self.app} on {self.phone_name}" if self.app else f"an SMS on {self.phone_name}"

    def takes(self, one: PhoneNotification) -> bool:
        """Return whether this notification of the trigger's app starts a task: it is new, recent, not a lasting one,
        and contains the required words.

        Words match regardless of case and character width. Quiet hours and `per_hour` are not checked here.
        """
        if one.lasting or one.reposted or one.age > LATE:
            return False
        said = _folded(f"{one.title}\n{one.text}")
        return _folded(self.sender) in _folded(one.title) and all(_folded(word) in said for word in self.words)


class TaskTrigger(_Frozen):
    """The trigger that started a task, and the mark of the notification; the same mark never starts two tasks."""

    schedule: str
    mark: str
    per_hour: int


def mark_of(phone: str, one: PhoneNotification) -> str:
    """Return a mark that identifies a notification on a phone (its id).

    New text in the same notification gives a new mark; the same text shown again without an interruption does not.
    """
    said = "\0".join((phone, one.key, str(one.posted), one.title, one.text))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
