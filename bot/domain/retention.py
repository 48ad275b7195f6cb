"""The default limits of how long and how much data the service keeps."""

from __future__ import annotations

from typing import Final

KEEP_DAYS: Final = 14.0
"""Days for screenshots and files."""
KEEP_GIGABYTES: Final = 2.0
"""GiB of them; the oldest go first."""
KEEP_TASKS_DAYS: Final = 90.0
"""Days for the steps, questions and messages of a task, counted from its end."""
GIBIBYTE: Final = 1024**3

LITTLE_ROOM: Final = 500 * 1024 * 1024
"""Bytes of free disk below which a warning is given. A task of 60 steps keeps up to 20 MB of pictures."""
