"""A process that kills itself when a reading of its watch has come, before or after the commit of its end.

Arguments: the data directory, and the moment.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from decimal import Decimal
from pathlib import Path

from agent.events import Started, TaskEnded
from agent.run import Outcome, RunId
from agent.task_results import NumberValue
from bot.domain.task import TaskState
from tests.bot.commands.test_scheduling import data
from tests.bot.schedules.rig import HOUR, a_rig


async def main(path: Path, moment: str) -> None:
    async with a_rig(path) as rig:
        line = "every 1h do open Shop, read the price and tell me when the price is below $50"
        await rig.world.press(data(await rig.world.type(f"watch {line}"), "Watch it"))
        (task,) = await rig.after(HOUR)
        rig.world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
        await rig.world.until(task, TaskState.WORKING)
        if moment.startswith("before"):
            os.kill(os.getpid(), signal.SIGKILL)
        value = NumberValue(number=Decimal(45), unit="$")
        rig.world.agent.tell(task.id, TaskEnded(outcome=Outcome.SUCCEEDED, summary="", value=value))
        await rig.world.until(task, TaskState.ENDED)
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
