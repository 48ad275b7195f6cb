"""What the graphs keep comes back from SQLite exactly as it was, also under strict reading."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agent.events import Asked
from agent.run import Outcome
from bot.store.sqlite.checkpoints import CHECKPOINTS_NAME
from bot.store.sqlite.schema import APPLICATION_ID
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, data, models, tap, text
from tests.fixtures.databases import open_checkpoints

PLAIN = (str, int, float, bool, type(None))


class RememberingSaver(AsyncSqliteSaver):
    """The real saver; it remembers what it was given before it was written."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        super().__init__(connection)
        self.given: dict[tuple[str, str], dict[str, Any]] = {}

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write, and remember."""
        thread = config["configurable"]["thread_id"]
        self.given[thread, checkpoint["id"]] = copy.deepcopy(checkpoint["channel_values"])
        return await super().aput(config, checkpoint, metadata, new_versions)


async def test_every_value_comes_back_equal(rig: Rig, tmp_path: Path) -> None:
    """Seen failing with the `Outcome` itself (instead of its value) in a result."""
    have, _ = models(
        [
            call("open_app", name="Settings"),
            call("note", text="12 € für “Tee” — 茶 🍵"),
            call("ask_user", question="Which?", choices=["red", "blue"]),
            tap("Bluetooth"),
            call("finish", status="success", summary="on", data="on"),
        ],
        intent=[data(kind="complex", need_plan=True)],
        plan=[text("1. on")],
        supervise=[data(decision="continue", remaining=["on"], next="on"), data(decision="complete")],
    )
    async with aiosqlite.connect(tmp_path / CHECKPOINTS_NAME) as connection:
        await connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        rig.saver = saver = RememberingSaver(connection)
        work = Work(rig.agent(have), order("switch Bluetooth on for me", quick=False))
        await work.until(Asked)
        await work.answer("blue")
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert {thread for thread, _ in saver.given} == {"task:7", "run:7-1"}
    async with open_checkpoints(tmp_path) as fresh:
        for (thread, checkpoint), values in saver.given.items():
            config: RunnableConfig = {
                "configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": checkpoint}
            }
            read = await fresh.aget_tuple(config)
            assert read is not None
            kept = read.checkpoint["channel_values"]
            assert kept == values
            assert same_kinds(kept, values)


def same_kinds(one: object, other: object) -> bool:
    """Whether two equal values are of the same plain types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return all(isinstance(key, str) and same_kinds(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return all(same_kinds(a, b) for a, b in zip(one, other, strict=True))
    return type(one) in PLAIN
