"""A process that dies before it has taken in what it was given, with checkpoints in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata

from agent.events import TaskEnded
from agent.run import Outcome
from bot.store.postgresql.checkpoints import PostgresCheckpoints
from bot.store.postgresql.checkpoints import open_checkpoints as open_in_server
from bot.store.postgresql.server import Server
from tests.agent.graph.rig import LIMIT, Rig, direct_rig, order
from tests.fakes.scripted_model import call, models
from tests.fixtures.postgresql import PostgresServer, run_on

pytestmark = pytest.mark.slow


@pytest.fixture
async def url() -> AsyncIterator[str]:
    server = await asyncio.to_thread(PostgresServer)
    run_on(server.url, "CREATE DATABASE record")
    yield f"{server.url}/record"
    server.remove()


class Died(Exception):
    pass


class Dying(PostgresCheckpoints):
    """Stores the input number `visit` of a graph, and nothing after that."""

    def __init__(self, saver: PostgresCheckpoints, url: str, visit: int) -> None:
        super().__init__(saver.conn, Server(url))  # type: ignore[arg-type]  # its pool
        self._inputs_left = visit

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        stored = await super().aput(config, checkpoint, metadata, new_versions)
        self._inputs_left -= metadata["source"] == "input"
        if not self._inputs_left:
            raise Died
        return stored


@pytest.mark.parametrize("visit", [1, 2])
async def test_dead_before_the_input_is_taken_in(url: str, visit: int) -> None:
    """That of the task, and that of the run. Seen failing: what such a state lacks was looked for in it."""
    async with direct_rig(wire=False) as rig, open_in_server(url) as saver, asyncio.timeout(LIMIT):
        with pytest.raises(Died):
            await end_of(rig, Dying(saver, url, visit))
        assert (await end_of(rig, saver)).outcome is Outcome.SUCCEEDED


async def end_of(rig: Rig, saver: PostgresCheckpoints) -> TaskEnded:
    rig.saver = saver
    have, _ = models([call("finish", status="success", summary="done")] * 4)
    async for event in rig.agent(have).work(order("switch Bluetooth", max_steps=4)):
        if isinstance(event, TaskEnded):
            return event
    raise AssertionError
