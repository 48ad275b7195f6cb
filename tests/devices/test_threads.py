"""Threads that run before they are needed."""

from __future__ import annotations

import asyncio
import threading

from devices.processes import ThreadPool, start_threads


async def test_no_thread_is_started_after_the_start() -> None:
    """Neither of the loop nor of a pool, however much is to be done at once."""
    pool = ThreadPool(3, "a test")
    start_threads()
    there = set(threading.enumerate())
    loop, begun, over = asyncio.get_running_loop(), threading.Semaphore(0), threading.Event()

    def work() -> threading.Thread:
        begun.release()
        over.wait()
        return threading.current_thread()

    working = [loop.run_in_executor(pool, work), *(asyncio.ensure_future(asyncio.to_thread(work)) for _ in range(40))]
    await loop.run_in_executor(pool, lambda: [begun.acquire() for _ in range(4)])
    over.set()
    assert set(await asyncio.gather(*working)) <= there
    assert set(threading.enumerate()) == there
    pool.shutdown()


async def test_a_pool_that_was_shut_down_is_left_alone() -> None:
    """It may still be referred to, as that of a loop that has ended. Seen failing with it among the pools."""
    pool = ThreadPool(1, "a test")
    pool.shutdown()
    start_threads()
    assert "a test" not in {each.name.rpartition("_")[0] for each in threading.enumerate()}
