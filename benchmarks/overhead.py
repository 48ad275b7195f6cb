"""What the graphs and their checkpoints take of a step: everything around them answers at once."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from agent.dialects.select import dialect_for
from agent.events import Step, TaskEnded
from agent.graph.agent import GraphAgent
from agent.guards.policy import Policy
from agent.models.base import ModelReply, ModelRequest
from agent.ports.agent import TaskOrder
from agent.run import Outcome
from agent.run_config import FixedRunConfig, RunConfig
from agent.runner.local import LocalRunner, RunnerDependencies
from bot.store.store import open_checkpoints
from tests.fakes.instant_phone import InstantPhone
from tests.fakes.ports import FirstPhone, MemoryFrames, MemoryJournal, MemorySecrets
from tests.fakes.scripted_model import call, models

STEPS = 30


async def step_seconds(directory: Path, task: int, url: str = "") -> float:
    """The median of a task's steps, in seconds, with checkpoints in a file in `directory` or in PostgreSQL."""
    phone = InstantPhone()

    def tap(_: ModelRequest) -> ModelReply:
        return call("tap", x=200 + task, y=300, say="On to the next page")

    have, _ = models([*([tap] * (STEPS - 1)), call("finish", status="success", summary="Done")])
    config = FixedRunConfig(RunConfig(have, dialect_for("tools", "scripted"), image_window=1))
    dependencies = RunnerDependencies(
        phones=phone,
        leases=FirstPhone(phone),
        configs=config,
        policy=Policy.default(),
        journal=MemoryJournal(),
        frames=MemoryFrames(),
        secrets=MemorySecrets(),
    )
    told: list[float] = []
    async with open_checkpoints(directory, url, owns=True) as saver:
        agent = GraphAgent(config, LocalRunner(dependencies, saver), saver)
        async for event in agent.work(
            TaskOrder(task=str(task), text="Turn the pages", quick=True, max_steps=STEPS + 1)
        ):
            if isinstance(event, Step):
                told.append(time.perf_counter())
            if isinstance(event, TaskEnded) and event.outcome is not Outcome.SUCCEEDED:
                raise RuntimeError(f"the task did not succeed: {event.summary}")
    return median(after - before for before, after in pairwise(told))
