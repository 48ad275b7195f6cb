"""Programs and threads that the service starts: the environment variables passed on, without keys and tokens, and
thread pools that are started in advance, so that they still work when memory is short.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from weakref import WeakSet

PLAIN: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Harmless variables that are passed on. All others, including tokens and keys, are withheld."""


def child_environment(names: Iterable[str] = (), more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment variables for a child process: the harmless ones (`PLAIN`), those in `names`, and
    `more`.
    """
    return {name: os.environ[name] for name in (*PLAIN, *names) if name in os.environ} | dict(more or {})


_POOLS: Final[WeakSet[ThreadPool]] = WeakSet()


class ThreadPool(ThreadPoolExecutor):
    """A thread pool that starts threads when they are first needed, or all of them in `start_threads`."""

    def __init__(self, threads: int, name: str) -> None:
        super().__init__(threads, name)
        self._count = threads
        _POOLS.add(self)

    def start(self) -> None:
        """Start all threads now. Blocks for some milliseconds until they run."""
        together = threading.Barrier(self._count + 1)
        for _ in range(self._count):
            self.submit(together.wait)
        together.wait()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads. They are not started again."""
        _POOLS.discard(self)
        super().shutdown(wait, cancel_futures=cancel_futures)


def start_threads() -> None:
    """Start the threads of every pool and those of the running event loop, which gets a `ThreadPool` too.

    Long-running programs call this at their start. In CPython, `Thread.start` waits until the new thread reports that
    it runs. A thread without memory for its first call ends silently, and the caller, which is the event loop, then
    hangs forever.
    """
    # as many as asyncio would have
    asyncio.get_running_loop().set_default_executor(ThreadPool(min(32, (os.cpu_count() or 1) + 4), "loop"))
    for pool in list(_POOLS):
        pool.start()
