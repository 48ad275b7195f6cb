"""Rate limits: a budget per route and channel, told in headers, and 429 answers on demand."""

from __future__ import annotations

import fnmatch
import re
import time
from dataclasses import dataclass

_MINOR = re.compile(r"/\d+")


@dataclass
class Flood:
    """A wish of a test: answer these requests with 429."""

    method: str
    path: str
    seconds: float
    times: int


@dataclass
class Window:
    opened: float
    used: int = 0


class RateLimits:
    """`limit` requests in `seconds` for each method, route and channel; generous until a test says otherwise."""

    def __init__(self) -> None:
        self.limit = 50
        self.seconds = 1.0
        self.refused = 0
        self._floods: list[Flood] = []
        self._windows: dict[str, Window] = {}

    def flood(self, method: str, path: str, seconds: float, times: int) -> None:
        self._floods.append(Flood(method, path, seconds, times))

    def check(self, method: str, path: str) -> tuple[dict[str, str], float | None]:
        """The rate-limit headers of the answer, and the seconds of a refusal or None."""
        bucket = _bucket(method, path)
        now = time.monotonic()
        window = self._windows.get(bucket)
        if window is None or now - window.opened >= self.seconds:
            window = self._windows[bucket] = Window(opened=now)
        window.used += 1
        left = max(0.0, self.seconds - (now - window.opened))
        headers = {
            "X-RateLimit-Bucket": _MINOR.sub("/:id", bucket).replace("/", "-"),
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - window.used)),
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Reset": f"{time.time() + left:.3f}",
        }
        for flood in self._floods:
            if flood.times > 0 and flood.method in (method, "*") and fnmatch.fnmatch(path, flood.path):
                flood.times -= 1
                self.refused += 1
                return headers, flood.seconds
        if window.used > self.limit:
            self.refused += 1
            return headers, left
        return headers, None


def _bucket(method: str, path: str) -> str:
    """Discord counts by route and by its first id (the channel, guild or webhook)."""
    first = _MINOR.search(path)
    end = first.end() if first else len(path)
    return f"{method} {path[:end]}{_MINOR.sub('/:id', path[end:])}"
