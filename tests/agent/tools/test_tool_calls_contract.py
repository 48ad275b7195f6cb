"""What every record of tool calls has to do: in memory, and in SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.ports.journal import CallKey, MemoryToolCalls, NewCall, StoredCall, ToolCalls
from tests.fixtures.databases import open_store

KEY = CallKey("7", "researcher", 1, 1, 0)
NEXT = CallKey("7", "researcher", 2, 1, 0)
LOOK = NewCall("read_page", {"url": "https://a.test"}, repeatable=True, same="s1")
WRITE = NewCall("files", {"name": "a"})


@pytest.fixture(params=["memory", "sqlite"])
async def calls(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ToolCalls]:
    if request.param == "memory":
        yield MemoryToolCalls()
        return
    store = await open_store(tmp_path)
    yield store.tool_calls
    await store.close()


def _undated(call: StoredCall | None) -> StoredCall | None:
    """When it was written down is told where there is a clock."""
    return None if call is None else replace(call, begun=0.0)


async def test_a_call_is_there_before_it_is_run_and_complete_after(calls: ToolCalls) -> None:
    assert await calls.begin(KEY, WRITE) is None
    assert _undated(await calls.at(KEY)) == StoredCall(KEY, WRITE)
    await calls.finish(KEY, "done", {"told": ["written 你好"]}, 0.5)
    assert tuple(map(_undated, await calls.of_task("7"))) == (
        StoredCall(KEY, WRITE, "done", {"told": ["written 你好"]}, seconds=0.5),
    )
    assert await calls.of_task("8") == ()
    assert await calls.at(NEXT) is None


async def test_one_with_an_effect_is_never_begun_twice(calls: ToolCalls) -> None:
    await calls.begin(KEY, WRITE)
    again = await calls.begin(KEY, WRITE)
    assert again is not None
    assert again.state == "begun"


async def test_one_that_changes_nothing_is_begun_anew_until_it_has_ended(calls: ToolCalls) -> None:
    assert await calls.begin(KEY, LOOK) is None
    assert await calls.begin(KEY, LOOK) is None
    await calls.finish(KEY, "stopped", {}, 0.0)
    assert await calls.begin(KEY, LOOK) is None
    await calls.finish(KEY, "failed", {"why": "away"}, 0.0)
    known = await calls.begin(KEY, LOOK)
    assert known is not None
    assert (known.state, known.result) == ("failed", {"why": "away"})


async def test_an_equal_call_of_the_task_comes_from_the_cache(calls: ToolCalls) -> None:
    await calls.begin(KEY, LOOK)
    await calls.finish(KEY, "done", {"read": ["words"]}, 1.0)
    assert _undated(await calls.begin(NEXT, LOOK)) == StoredCall(NEXT, LOOK, "done", {"read": ["words"]}, cached=True)
    assert await calls.begin(CallKey("8", "researcher", 1, 1, 0), LOOK) is None
    assert await calls.begin(CallKey("7", "researcher", 1, 2, 0), WRITE) is None, "no digest, no cache"


async def test_what_was_refused_is_kept_and_changes_nothing_that_is_known(calls: ToolCalls) -> None:
    await calls.refuse(KEY, WRITE, "skipped", {"why": "a"})
    await calls.refuse(KEY, WRITE, "failed", {"why": "b"})
    known = await calls.at(KEY)
    assert known is not None
    assert (known.state, known.result["why"]) == ("skipped", "a")


async def test_calls_are_counted_by_worker_and_turn(calls: ToolCalls) -> None:
    for turn in (1, 2, 3):
        await calls.begin(CallKey("7", "researcher", 1, turn, 0), WRITE)
    await calls.begin(NEXT, WRITE)
    assert [await calls.count(CallKey("7", "researcher", 1, turn, 0)) for turn in (1, 3, 4)] == [0, 2, 3]


async def test_addresses_that_the_task_has_found(calls: ToolCalls) -> None:
    await calls.begin(KEY, LOOK)
    await calls.finish(KEY, "done", {"found": ["https://a.test", "https://b.test"]}, 1.0)
    await calls.begin(NEXT, WRITE)
    await calls.finish(NEXT, "done", {"found": ["https://b.test", "https://c.test"]}, 1.0)
    assert await calls.found("7") == ("https://a.test", "https://b.test", "https://c.test")
    assert await calls.found("8") == ()
