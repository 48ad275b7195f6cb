"""A process whose watcher begins a task, and that kills itself right after the commit of the acceptance.

Argument: the data directory.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.bot.triggers.rig import RULE, a_rig


async def main(path: Path) -> None:
    async with a_rig(path) as rig:
        await rig.trigger(f"{RULE} do open chat")
        rig.world.task_service.subscribe(lambda _task: os.kill(os.getpid(), signal.SIGKILL))
        rig.phone.post("hello")
        await rig.after()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
