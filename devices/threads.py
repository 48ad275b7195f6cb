"""Thread pools whose threads can all be started ahead, so that they still work when memory is short."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from weakref import WeakSet

_POOLS: Final[WeakSet[ThreadPool]] = WeakSet()


class ThreadPool(ThreadPoolExecutor):
    """A pool that starts each of its threads when it is needed first, or all of them with `start_threads`."""

    def __init__(self, threads: int, name: str) -> None:
        super().__init__(threads, name)
        self._count = threads
        _POOLS.add(self)

    def start(self) -> None:
        """Start all threads now. Blocks until they run: some milliseconds."""
        together = threading.Barrier(self._count + 1)
        for _ in range(self._count):
            self.submit(together.wait)
        together.wait()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads: they are not started again."""
        _POOLS.discard(self)
        super().shutdown(wait, cancel_futures=cancel_futures)


def start_threads() -> None:
    """Start the threads of every pool, and those of the running loop, which then has a `ThreadPool` too.

    What runs for long calls this at its start. In CPython, `Thread.start` waits until the thread has said that it runs;
    one that finds no memory for its first call ends without a word, and the one who started it, which is the loop,
    stands still for ever.
    """
    # as many as asyncio would have
    asyncio.get_running_loop().set_default_executor(ThreadPool(min(32, (os.cpu_count() or 1) + 4), "loop"))
    for pool in list(_POOLS):
        pool.start()
