"""Downloads of people's files and voice: few at a time, within limits, and what is left behind is said."""

from __future__ import annotations

import asyncio
import logging

import pytest

from bot.chats.fetching import FETCHES, Download, Downloads, TooLarge
from bot.domain.chat import ChatError, FloodWait
from bot.texts import say

MOST = 2 * 1024 * 1024


async def test_few_are_fetched_at_a_time_whatever_they_are() -> None:
    """Seen failing without the semaphore around either: files in any number would fill the memory."""
    downloads, free = Downloads("Chat", MOST), asyncio.Event()
    begun: list[str] = []

    def wanted(name: str) -> Download:
        async def read(_room: int) -> bytes:
            begun.append(name)
            await free.wait()
            return name.encode()

        return Download(name, 0, read)

    async with asyncio.TaskGroup() as group:
        files = [group.create_task(downloads.fetch([wanted(f"a{one}"), wanted(f"b{one}")])) for one in range(5)]
        voices = [group.create_task(downloads.recording(wanted(f"v{one}"))) for one in range(5)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(begun) == FETCHES
        free.set()
    assert [[file.data for file in one.result()[0]] for one in files] == [
        [f"a{one}".encode(), f"b{one}".encode()] for one in range(5)
    ]
    assert [one.result() for one in voices] == [f"v{one}".encode() for one in range(5)]


@pytest.mark.parametrize("fault", [ChatError("away"), FloodWait(3.0), TooLarge()])
async def test_a_file_that_cannot_be_fetched_is_said_and_costs_no_other(
    fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(_room: int) -> bytes:
        raise fault

    async def works(room: int) -> bytes:
        assert room == MOST
        return b"x"

    caplog.set_level(logging.CRITICAL)
    downloads = Downloads("Chat", MOST)
    files, lost = await downloads.fetch([Download("bad.txt", 0, fails), Download("good.txt", 1, works)])
    assert [one.name for one in files] == ["good.txt"]
    reason = {"megabytes": 2} if isinstance(fault, TooLarge) else {"platform": "Chat"}
    assert lost == say(f"chats.file_{'large' if isinstance(fault, TooLarge) else 'lost'}", name="bad.txt", **reason)
    with pytest.raises(ChatError):
        await downloads.recording(Download("voice.ogg", 0, fails))


async def test_all_files_of_a_message_share_its_room() -> None:
    rooms: list[int] = []

    async def read(room: int) -> bytes:
        rooms.append(room)
        return bytes(1000)

    wanted = [Download("a", 1000, read), Download("b", MOST, read), Download("c", 1000, read)]
    files, lost = await Downloads("Chat", MOST).fetch(wanted)
    assert ([one.name for one in files], rooms) == (["a", "c"], [MOST, MOST - 1000])
    assert "b" in lost


async def test_a_file_may_have_a_limit_of_its_own() -> None:
    """Seen failing without `each` in `fetch`, and with the limit of the message named for "b"."""
    each, rooms = MOST // 2, list[int]()

    async def read(room: int) -> bytes:
        rooms.append(room)
        return bytes(each - 1)

    wanted = [Download(name, size, read) for name, size in (("a", 0), ("b", each + 1), ("c", 0), ("d", 3))]
    downloads = Downloads("Chat", MOST, each=each)
    files, lost = await downloads.fetch(wanted)
    assert ([one.name for one in files], rooms) == (["a", "c"], [each, each])
    assert lost.splitlines() == [
        say("chats.one_file_large", name="b", megabytes=1),
        say("chats.file_large", name="d", megabytes=2),
    ]
    with pytest.raises(ChatError):
        await downloads.recording(wanted[1])
