"""The latest lines of the log, and following them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from threading import Thread

from bot.logs.setup import KEPT_LINES, RecentLines


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("bot", logging.INFO, __file__, 1, text, None, None)


async def told(lines: RecentLines, last: int) -> list[str]:
    return [line async for line in lines.follow(last, on=False)]


async def test_the_last_lines_are_kept_and_no_more() -> None:
    lines = RecentLines()
    assert await told(lines, 5) == []
    for number in range(KEPT_LINES + 3):
        lines.handle(record(str(number)))
    assert await told(lines, 2) == [str(KEPT_LINES + 1), str(KEPT_LINES + 2)]
    assert await told(lines, KEPT_LINES * 2) == [str(number) for number in range(3, KEPT_LINES + 3)]


async def test_who_follows_hears_what_other_threads_write() -> None:
    lines = RecentLines()
    lines.handle(record("before"))
    async with aclosing(lines.follow(1, on=True)) as following, asyncio.timeout(10):
        assert await anext(following) == "before"
        Thread(target=lines.handle, args=(record("after"),)).start()
        assert await anext(following) == "after"
    lines.handle(record("nobody listens"))


async def test_who_is_too_slow_misses_lines_and_goes_on() -> None:
    lines = RecentLines()
    async with aclosing(lines.follow(0, on=True)) as following, asyncio.timeout(10):
        waiting = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        for number in range(KEPT_LINES * 2):
            lines.handle(record(str(number)))
        assert await waiting == str(KEPT_LINES)
