from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Generator
from itertools import groupby
from pathlib import Path

import pytest
from aiohttp import web_app
from hypothesis import settings

_slipcover = sys.modules.get("slipcover.pytest_plugin")
if _slipcover is not None and _slipcover._slipcover_instance is not None:
    # In a worker, which `slipcover --immediate` does not reach: a line that was counted once costs nothing more.
    _slipcover._slipcover_instance.immediate = True

from bot.wiring.memory import tune_malloc  # noqa: E402 - counted from here on

pytest_plugins = ["tests.fixtures.outside", "tests.fixtures.adb", "tests.fixtures.rigs", "tests.fixtures.databases"]

settings.register_profile("on a busy machine", deadline=None)
settings.load_profile("on a busy machine")

# Nobody's own settings and data: a command that is run in an empty folder finds the platform's own, which are these.
for _name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
    os.environ[_name] = tempfile.mkdtemp(prefix="opengui-tests-")

# What is compiled is kept, even where a machine is told not to: each worker and each program that a test starts would
# else compile all of it again, which takes as long as a tenth of the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.disable()  # until all tests are collected: what is loaded is no garbage

tune_malloc()  # as the service does; with a heap for each thread a worker grows to gigabytes

GROWTH = 64 * 1024 * 1024
"""Bytes. The garbage collector counts objects: a few hundred that refer to each other and hold a picture of ten
megabytes are nothing to it, and thousands of tests with an application or a phone of their own leave gigabytes."""

WAITING_FOLDERS = frozenset({"end_to_end", "faults", "workshop"})
"""Tests that for the most part wait: for other programs, and for the clock on the wall."""

_cases = Counter[str]()
"""How many cases of each sampled test were collected."""
_memory = Path("/proc/self/statm")
_after_collection = 0


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave all but each n-th case of a test marked `sampled(n)` to `make test-long`."""
    sampled = item.get_closest_marker("sampled")
    if sampled is not None:
        name = item.nodeid.partition("[")[0]
        if _cases[name] % sampled.args[0]:
            item.add_marker("long")
        _cases[name] += 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the workers of `--dist worksteal`, three in five begin with tests that wait, and the others have the
    processors meanwhile. At the end, when tests are stolen from one another, few of those that wait are left.
    """
    waiting = [[*each] for _, each in groupby(filter(_waits, items), key=lambda item: item.path)]
    working = [item for item in items if not _waits(item)]
    workers, size, parts = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")), len(items), list[pytest.Item]()
    begin_waiting = max(1, workers * 3 // 5)
    for part in range(workers):
        if part < begin_waiting:
            parts += [item for file in waiting[part::begin_waiting] for item in file]
        more = max(0, size * (part + 1) // workers - len(parts))
        parts, working = parts + working[:more], working[more:]
    items[:] = parts + working


def _waits(item: pytest.Item) -> bool:
    return bool(WAITING_FOLDERS & {*item.path.relative_to(item.config.rootpath).parts})


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is there when all tests are collected, the program and the tests, stays until the end: the garbage
    collector need not look through it in every test, a second each time.
    """
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


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
