from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from aiohttp import web_app
from hypothesis import settings

from bot.memory import keep_small

pytest_plugins = ["tests.fixtures.adb"]

settings.register_profile("on a busy machine", deadline=None)
settings.load_profile("on a busy machine")

keep_small()  # as the service does; with a heap for each thread a worker grows to gigabytes

GROWTH = 64 * 1024 * 1024
"""Bytes. The garbage collector counts objects: a few hundred that refer to each other and hold a picture of ten
megabytes are nothing to it, and thousands of tests with an application or a phone of their own leave gigabytes."""

_memory = Path("/proc/self/statm")
_after_collection = 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait by the clock go first: otherwise one worker would wait at the end, and the others do nothing."""
    items.sort(key=lambda item: "faults" not in item.path.parts)


def pytest_runtest_logfinish() -> None:
    """Collect what tests left behind, when it has become much."""
    global _after_collection
    if not _memory.exists():
        return
    if _resident() > _after_collection + GROWTH:
        # It keeps the last thousand handlers with the applications around them, and all that stands behind those.
        web_app._cached_build_middleware.cache_clear()
        gc.collect()
        _after_collection = _resident()


def _resident() -> int:
    return int(_memory.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
