"""All targets."""

from __future__ import annotations

from tests.fuzz.readers import READERS
from tests.fuzz.running import RUNNING

TARGETS = (*READERS, *RUNNING)
