"""A trigger: a schedule whose tasks begin when a phone gets a certain notification.

Code decides whether a notification fits, by its app, given words and the time of day. A model gets what the
notification says only as data.
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
    """Minutes of the day in which a trigger begins nothing, from the first to before the last; also past midnight."""

    begins: int = Field(ge=0, lt=1440)
    ends: int = Field(ge=0, lt=1440)

    def hold(self, local: datetime) -> bool:
        """Whether the quiet hours include this moment."""
        minute = local.hour * 60 + local.minute
        if self.begins <= self.ends:
            return self.begins <= minute < self.ends
        return minute >= self.begins or minute < self.ends

    def __str__(self) -> str:
        return "–".join(f"{minute // 60:02}:{minute % 60:02}" for minute in (self.begins, self.ends))


def quiet_hours(text: str) -> QuietHours | None:
    """The quiet hours in a text such as "22:00-07:00"; None if the text has another form."""
    found = _QUIET.fullmatch(text.strip())
    if found is None:
        return None
    hour, minute, to_hour, to_minute = (int(each or 0) for each in found.groups())
    begins, ends = hour * 60 + minute, to_hour % 24 * 60 + to_minute
    return None if hour > 23 or to_hour > 24 or max(minute, to_minute) > 59 else QuietHours(begins=begins, ends=ends)


class Trigger(_Frozen):
    """Which notifications begin a task."""

    phone: str
    """The id of the phone that gets them."""
    phone_name: str
    package: str
    """Of the app that shows them."""
    app: str
    """What people call it; "" where it shows SMS."""
    sender: str = ""
    """Words that its title has to have; "" for any."""
    words: tuple[str, ...] = ()
    """Words that it has to have, all of them; () for any."""
    quiet: QuietHours | None = None
    per_hour: int = Field(default=PER_HOUR, ge=1, le=MOST_PER_HOUR)
    """At most so many tasks in any hour."""

    @property
    def source(self) -> str:
        """Describe the notifications of this trigger for a model."""
        return f"a notification of {self.app} on {self.phone_name}" if self.app else f"an SMS on {self.phone_name}"

    def takes(self, one: PhoneNotification) -> bool:
        """Whether a notification of that app is one of those: by its words, in whatever case and width they are."""
        if one.lasting or one.reposted or one.age > LATE:
            return False
        said = _folded(f"{one.title}\n{one.text}")
        return _folded(self.sender) in _folded(one.title) and all(_folded(word) in said for word in self.words)


class TaskTrigger(_Frozen):
    """The trigger that a task began by, and the mark of what it was: the same one begins nothing twice."""

    schedule: str
    mark: str
    per_hour: int


def mark_of(phone: str, one: PhoneNotification) -> str:
    """A mark that identifies a notification on a phone. New words in the same notification give a new mark; the same
    words shown again without an interruption do not.
    """
    said = "\0".join((phone, one.key, str(one.posted), one.title, one.text))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
