"""`python -m devices.simulator`: starts phones and prints one line of JSON for each; ends when its input closes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import threading
from contextlib import AsyncExitStack
from pathlib import Path

from devices.geometry import Size
from devices.simulator.control import Control
from devices.simulator.phone import DEFAULT_DENSITY, VirtualPhone

MAX_PHONES = 64


def main() -> int:
    """Reads the options and runs the phones. The exit code is 0, 1 when a port is taken, 2 for wrong options."""
    parser = argparse.ArgumentParser(prog="python -m devices.simulator", description="Starts virtual phones.")
    parser.add_argument("--count", type=_count, default=1, help="how many phones (1)")
    parser.add_argument("--size", type=_size, default=Size(1080, 2400), help="WIDTHxHEIGHT in pixels (1080x2400)")
    parser.add_argument("--density", type=int, default=DEFAULT_DENSITY, help="dots per inch (420)")
    parser.add_argument("--state", type=Path, help="folder that keeps the phones' state")
    parser.add_argument("--port", type=int, default=0, help="port of the first phone; the next ones follow (0: any)")
    parser.add_argument("--seed", type=int, default=0, help="shuffles icons, rows and results (0: not)")
    parser.add_argument("--locale", default="en-US", help="language, such as zh-CN (en-US)")
    options = parser.parse_args()
    try:
        asyncio.run(_run(options))
    except OSError as problem:
        sys.stderr.write(f"The virtual phones could not be started: {problem}\n")
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


async def _run(options: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        for number in range(1, options.count + 1):
            name = f"virtual-{number}"
            phone = await stack.enter_async_context(
                VirtualPhone(
                    name,
                    number=number,
                    size=options.size,
                    density=options.density,
                    seed=options.seed,
                    locale=options.locale,
                    port=options.port + number - 1 if options.port else 0,
                    state_file=options.state / f"{name}.json" if options.state else None,
                )
            )
            control = Control(phone)
            await control.start()
            stack.push_async_callback(control.stop)
            line = {"name": phone.name, "address": phone.address, "control": control.url}
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
        await _end_of_input()


async def _end_of_input() -> None:
    """Waits until standard input closes, as it does when the process that started this one ends.

    A thread reads, since asyncio cannot wait for a file or /dev/null; it never keeps the process alive.
    """
    loop = asyncio.get_running_loop()
    closed = asyncio.Event()

    def read() -> None:
        while os.read(sys.stdin.fileno(), 4096):
            pass
        with contextlib.suppress(RuntimeError):  # the loop has ended first
            loop.call_soon_threadsafe(closed.set)

    threading.Thread(target=read, name="standard input", daemon=True).start()
    await closed.wait()


def _size(text: str) -> Size:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 240 <= int(width) <= 4096 and 240 <= int(height) <= 4096):
        raise argparse.ArgumentTypeError(f"{text} is no size such as 1080x2400 (240 to 4096 pixels a side)")
    return Size(int(width), int(height))


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= MAX_PHONES:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 to {MAX_PHONES}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
