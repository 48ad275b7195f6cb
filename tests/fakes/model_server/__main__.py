"""`python -m tests.fakes.model_server --script FILE.json --port 0`: prints its base URL as one line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from tests.fakes.model_server.personalities import PERSONALITIES
from tests.fakes.model_server.script import read_script
from tests.fakes.model_server.server import ModelServer


async def serve(path: Path, port: int) -> None:
    """Serve until SIGINT or SIGTERM."""
    script = read_script(path)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with ModelServer(
        script.replies,
        personality=PERSONALITIES[script.personality],
        key=script.key,
        models=script.models,
        port=port,
    ) as server:
        sys.stdout.write(json.dumps({"base_url": server.base_url}) + "\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.script, arguments.port))
