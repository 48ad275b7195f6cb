"""The back end's clock, running with real time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simcord._clock import Clock


class RealClock(Clock):
    """simcord's own clock stands still at 2026-01-01, so that every interaction would look expired to a client."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.elapsed)
