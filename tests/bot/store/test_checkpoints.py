from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path
from typing import Literal, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from bot.store.checkpoints import PRUNE_EVERY
from bot.store.errors import StoreCorrupt, StoreError, StoreTooOld
from bot.store.sqlite.checkpoints import CHECKPOINTS_NAME
from bot.store.sqlite.checkpoints import open_checkpoints as open_in_files
from tests.fixtures.databases import ON_POSTGRESQL, open_checkpoints

PATIENCE = 10.0


async def _kept(directory: Path, thread: str) -> None:
    async with open_checkpoints(directory) as saver:
        await saver.aput(
            {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}, empty_checkpoint(), {"source": "input"}, {}
        )


async def _found(directory: Path, thread: str) -> bool:
    async with open_checkpoints(directory) as saver:
        return await saver.aget({"configurable": {"thread_id": thread, "checkpoint_ns": ""}}) is not None


async def test_what_is_kept_is_there_in_the_next_process(tmp_path: Path) -> None:
    await _kept(tmp_path, "7")
    assert await _found(tmp_path, "7")
    assert not await _found(tmp_path, "8")


@pytest.mark.sqlite
async def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path) -> None:
    """Seen failing without the look at the file: one with a damaged page was opened, and written to."""
    await _kept(tmp_path, "7")
    path = tmp_path / CHECKPOINTS_NAME
    good = path.read_bytes()
    # In the second, a page of a table is overwritten: the header alone still looks well.
    for content in (b"this is no database at all, only text " * 40, good[:4096] + b"\xa5" * 4096 + good[8192:]):
        path.write_bytes(content)
        with pytest.raises(StoreCorrupt, match=r"checkpoints\.sqlite3 is damaged .* Move it away"):
            async with open_checkpoints(tmp_path):
                pass
        assert path.read_bytes() == content


@pytest.mark.sqlite
async def test_a_file_of_before_the_first_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Seen failing without the look at its id: states of unreleased versions were opened, and read as today's."""
    await _kept(tmp_path, "7")
    path = tmp_path / CHECKPOINTS_NAME
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 0")
    content = path.read_bytes()
    with pytest.raises(StoreTooOld, match=r"checkpoints\.sqlite3 was made by a version before 0\.1\.0"):
        async with open_checkpoints(tmp_path):
            pass
    assert path.read_bytes() == content


@pytest.mark.sqlite
async def test_a_file_that_cannot_be_opened_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / CHECKPOINTS_NAME).mkdir()
    with pytest.raises(StoreError, match="could not be used") as refused:
        async with asyncio.timeout(PATIENCE), open_checkpoints(tmp_path):
            pass
    assert not isinstance(refused.value, StoreCorrupt)


@pytest.mark.sqlite
async def test_a_write_that_was_left_open_does_not_lock_others_out(tmp_path: Path) -> None:
    async with open_in_files(tmp_path) as saver:
        await saver.conn.execute("BEGIN IMMEDIATE")
    with sqlite3.connect(tmp_path / CHECKPOINTS_NAME, timeout=0) as other:
        other.execute("BEGIN IMMEDIATE")


class Counted(TypedDict):
    """The state of the graph below."""

    steps: int
    said: str


def counting(ran: list[int], hangs_at: int = 0) -> StateGraph[Counted]:
    """Counts to 30, then asks a question."""

    async def count(state: Counted) -> Command[Literal["count", "ask"]]:
        ran.append(state["steps"] + 1)
        if len(ran) == hangs_at:
            await asyncio.Event().wait()
        return Command(goto="count" if state["steps"] < 29 else "ask", update={"steps": state["steps"] + 1})

    async def ask(state: Counted) -> Counted:
        return {"steps": state["steps"], "said": interrupt("Really?")}

    graph = StateGraph(Counted)
    graph.add_node("count", count)
    graph.add_node("ask", ask)
    graph.add_edge(START, "count")
    return graph


def pending_in(directory: Path) -> int:
    with contextlib.closing(sqlite3.connect(directory / CHECKPOINTS_NAME)) as file:
        return int(file.execute("SELECT count(*) FROM writes").fetchone()[0])


CONFIG: RunnableConfig = {"configurable": {"thread_id": "run:1"}, "recursion_limit": 100}


async def test_only_the_last_checkpoints_are_kept_and_an_open_question_is_still_there(tmp_path: Path) -> None:
    """Seen failing with the pruning removed: 32 checkpoints."""
    ran: list[int] = []
    async with open_checkpoints(tmp_path) as saver:
        graph = counting(ran).compile(checkpointer=saver)
        await graph.ainvoke({"steps": 0, "said": ""}, CONFIG, durability="sync")
        assert 1 <= len([each async for each in saver.alist(CONFIG)]) <= PRUNE_EVERY
    if not ON_POSTGRESQL:
        assert pending_in(tmp_path) <= 5 * PRUNE_EVERY
    async with open_checkpoints(tmp_path) as saver:
        graph = counting(ran).compile(checkpointer=saver)
        state = await graph.aget_state(CONFIG)
        assert [each.value for each in state.interrupts] == ["Really?"]
        end = await graph.ainvoke(Command(resume={state.interrupts[0].id: "yes"}), CONFIG, durability="sync")
    assert (end["steps"], end["said"]) == (30, "yes")
    assert ran == list(range(1, 31))


@pytest.mark.parametrize("at", [1, 4, 5, 6, 7, 8, 17])
async def test_work_that_was_killed_goes_on_where_it_was(tmp_path: Path, at: int) -> None:
    """Seen failing with `<=` in place of `<`: nothing is left to go on from."""
    ran: list[int] = []
    async with open_checkpoints(tmp_path) as saver:
        graph = counting(ran, hangs_at=at).compile(checkpointer=saver)
        work = asyncio.ensure_future(graph.ainvoke({"steps": 0, "said": ""}, CONFIG, durability="sync"))
        async with asyncio.timeout(PATIENCE):
            while len(ran) < at:
                await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait({work})
    async with open_checkpoints(tmp_path) as saver:
        graph = counting(ran).compile(checkpointer=saver)
        await graph.ainvoke(None, CONFIG, durability="sync")
    assert ran == [*range(1, at + 1), *range(at, 31)], "only what was in flight is done again"


async def test_threads_do_not_prune_each_other(tmp_path: Path) -> None:
    """Seen failing without the thread in the condition."""
    ran: list[int] = []
    async with open_checkpoints(tmp_path) as saver:
        graph = counting(ran).compile(checkpointer=saver)
        others: list[RunnableConfig] = [{"configurable": {"thread_id": f"task:{n}"}} for n in range(3)]
        for each in (*others, CONFIG):
            await graph.ainvoke({"steps": 28, "said": ""}, each, durability="sync")
        for each in (*others, CONFIG):
            assert (await graph.aget_state(each)).interrupts
