"""Three researchers at once against the slowest of them: how much the team itself adds.

The model answers after a fixed time, so the rest is the team's own.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path
from statistics import median

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agent.dialects.select import dialect_for
from agent.graph.agent import GraphAgent
from agent.graph.member.members import Members
from agent.members.loading import Member, Team
from agent.models.base import ModelReply as Reply
from agent.models.base import Models, Purpose
from agent.ports.agent import TaskOrder
from agent.ports.journal import MemoryToolCalls
from agent.run_config import FixedRunConfig, RunConfig
from agent.tools.calling import Toolbox
from benchmarks.row import Row
from tests.fakes.ports import MemoryFrames

THINKS_S = (0.5, 0.75, 1.0)
"""Seconds that the model takes for each of the three."""
MOST = 1.3


class Slow:
    """A model that takes its time for members, and none for the rest."""

    name = "slow"

    async def complete(self, request, *, on_delta=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, ARG002, D102
        words = request.messages[-1].parts[0]
        match request.purpose:
            case Purpose.INTENT:
                return Reply(json.dumps({"kind": "complex"}))
            case Purpose.PLAN:
                steps = [{"member": "researcher", "title": f"part {number}"} for number in range(3)]
                return Reply(json.dumps({"steps": steps}))
            case Purpose.SUPERVISE if "(none yet)" in words:
                given = [{"member": "researcher", "todo": f"part {n}", "goal": f"part {n}"} for n in range(3)]
                return Reply(json.dumps({"decision": "continue", "assignments": given}))
            case Purpose.SUPERVISE:
                return Reply(json.dumps({"decision": "complete"}))
            case Purpose.MEMBER:
                await asyncio.sleep(next(s for n, s in enumerate(THINKS_S) if words.startswith(f"part {n}")))
                return Reply("found")
        return Reply("done")


async def measured(runs: int) -> list[Row]:
    """The time of all beside that of the slowest, in the middle of so many tasks."""
    times = median([await _one() / max(THINKS_S) for _ in range(runs)])
    return [Row("three researchers at once, beside the slowest (median)", times, MOST, "times")]


async def _one() -> float:
    team = Team({"researcher": Member("researcher", "Looks up.", "You look up.")})
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncSqliteSaver.from_conn_string(str(Path(folder) / "checkpoints")) as saver:
            members = Members(lambda: team, Toolbox([], MemoryToolCalls()), MemoryFrames(), saver)
            model = Slow()
            config = RunConfig(Models(model, model, model), dialect_for("tools", "slow"), 1)
            agent = GraphAgent(FixedRunConfig(config), _NoPhone(), saver, members=members)  # type: ignore[arg-type]
            began = time.perf_counter()
            async for _ in agent.work(TaskOrder(task="1", text="look three things up")):
                pass
            return time.perf_counter() - began


class _NoPhone:
    async def rest(self, run: object) -> None:
        pass

    async def release(self, run: object) -> None:
        pass
