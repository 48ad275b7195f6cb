"""A notification of a phone, as it was read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PhoneNotification:
    """A notification that a phone shows. Its words are those of whoever caused it, and may read like anything.

    `posted` is when it came, in milliseconds by the phone's own clock, and `age` how many seconds ago it came or last
    changed. One that is `lasting` tells of something under way (a call, a download, music) or sums up others. One that
    is `reposted` tells of something older, or came while the phone was starting.
    """

    key: str
    package: str
    title: str
    text: str
    posted: int
    age: float
    lasting: bool = False
    reposted: bool = False
