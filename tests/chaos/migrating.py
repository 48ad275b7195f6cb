"""Opens a store in a process of its own, once told to: `python -m tests.chaos.migrating DIRECTORY`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.store.store import Store


async def opened(directory: Path) -> None:
    store = await Store.open(directory)
    await store.close()


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    asyncio.run(opened(Path(sys.argv[1])))
    sys.stdout.write("open\n")
    sys.stdout.flush()
