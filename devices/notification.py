"""A notification that was read from a phone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PhoneNotification:
    """A notification shown on a phone. Its text was written by others and may contain anything.

    - `key`: Android's id of the notification.
    - `posted`: When it was posted, in milliseconds by the phone's own clock.
    - `age`: How many seconds ago it was posted or last changed.
    - `lasting`: Whether it reports something in progress (a call, a download, music) or summarises others.
    - `reposted`: Whether it reports something older, or was posted while the phone was starting.
    """

    key: str
    package: str
    title: str
    text: str
    posted: int
    age: float
    lasting: bool = False
    reposted: bool = False
