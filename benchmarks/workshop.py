"""The workshop's own time for a job: what a shell and a Python that do nothing take, from the call to the result."""

from __future__ import annotations

import statistics
import time

from agent.ports.workshop import Job
from benchmarks.row import Row
from bot.workshop.client import OwnWorkshop

TARGET_MS = 150.0


async def measured(runs: int) -> list[Row]:
    """A row for shell and Python each. Raises WorkshopError where no room holds."""
    workshop = OwnWorkshop()
    rows: list[Row] = []
    try:
        for job in (Job("shell", "true"), Job("python", "pass")):
            await workshop.run(job)  # the first one starts the workshop
            times = []
            for _ in range(max(20, runs)):
                began = time.monotonic()
                await workshop.run(job)
                times.append((time.monotonic() - began) * 1000)
            rows.append(Row(f"a workshop job, {job.program} (median)", statistics.median(times), TARGET_MS, "ms"))
    finally:
        await workshop.close()
    return rows
