from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from aiohttp import web_app
from hypothesis import settings

from bot.wiring.memory import keep_small

pytest_plugins = ["tests.fixtures.adb", "tests.fixtures.rigs"]

settings.register_profile("on a busy machine", deadline=None)
settings.load_profile("on a busy machine")

keep_small()  # as the service does; with a heap for each thread a worker grows to gigabytes

GROWTH = 64 * 1024 * 1024
"""Bytes. The garbage collector counts objects: a few hundred that refer to each other and hold a picture of ten
megabytes are nothing to it, and thousands of tests with an application or a phone of their own leave gigabytes."""

PROCESSES = frozenset({"adb_server", "chromium"})
"""Fixtures behind which a program runs."""
SLOW = frozenset(
    {"chaos", "end_to_end", "faults", "installing", "soak"}
    | {
        "test_containers.py",
        "test_crash.py",
        "test_fake_endpoint.py",
        "test_former.py",
        "test_life.py",
        "test_memory.py",
    }
    | {"test_password.py", "test_pipes.py", "test_process.py", "test_quoting.py", "test_restore.py", "test_server.py"}
    | {"test_terminals.py", "test_unit.py"}
)
"""Folders and files whose tests start programs by themselves, or wait by the clock on the wall."""

_memory = Path("/proc/self/statm")
_after_collection = 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait by the clock go first: otherwise one worker would wait at the end, and the others do nothing.

    Those that start programs are marked `slow`.
    """
    items.sort(key=lambda item: "faults" not in item.path.parts)
    for item in items:
        if PROCESSES & {*getattr(item, "fixturenames", ())} or SLOW & {*item.path.parts, item.path.name}:
            item.add_marker(pytest.mark.slow)


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
