"""A process whose scheduler gives a due task, and that kills itself right after the commit of the acceptance.

Argument: the data directory.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.bot.schedules.rig import HOUR, a_rig


async def main(path: Path) -> None:
    async with a_rig(path) as rig:
        await rig.plan("every 1h do look at the weather")
        rig.world.task_service.subscribe(lambda _task: os.kill(os.getpid(), signal.SIGKILL))
        await rig.after(HOUR)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
