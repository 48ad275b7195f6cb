"""What the service does about its memory, in a process of its own: it cannot be undone."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

LOOK = """
import gc
import bot.wiring.service
from bot.wiring.memory import freeze_gc
freeze_gc()
circle = []
circle.append(circle)
del circle
print(len(gc.get_objects()) < 10_000 < gc.get_freeze_count(), gc.collect() > 0)
"""


def test_the_program_itself_is_not_looked_through_for_garbage() -> None:
    """New circles are found as before."""
    told = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.split() == ["True", "True"]
