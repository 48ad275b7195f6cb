"""Runs the workshop, as `opengui workshop` or as the child of a service. It reads no settings and no `.env`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import pwd
import signal
import socket
import sys
from pathlib import Path

from agent.ports.workshop import Lack
from bot.workshop import SOCKET
from bot.workshop.job import NOBODY
from bot.workshop.probe import find_room
from bot.workshop.server import Server, bound, leave_network, leave_root

UNAVAILABLE = 69

logger = logging.getLogger(__name__)


def serve(options: argparse.Namespace) -> int:
    """Run the workshop until a signal or, as a child process, until the service is gone. Returns the exit code; 69 if
    it cannot be started or this machine cannot make a room (a sandbox).
    """
    logging.basicConfig(level=logging.INFO, format="%(levelname)s workshop: %(message)s")
    try:
        uid = int(options.user) if options.user.isdecimal() else pwd.getpwnam(options.user).pw_uid
        listener = bound(options.socket)
        if options.child:
            leave_network()
    except (OSError, KeyError) as error:
        logger.error("The workshop cannot be started: %s", error)  # noqa: TRY400 - a sentence, not a trace
        return UNAVAILABLE
    return asyncio.run(_serve(listener, uid, child=options.child))


async def _serve(listener: socket.socket, uid: int, *, child: bool) -> int:
    room = await find_room()
    if isinstance(room, Lack):
        logger.error("No sandbox can be made on this machine: %s. Run `opengui doctor` to see what to do.", room.value)
        listener.close()
        return UNAVAILABLE
    # After the first job everything that only root can read has been loaded.
    leave_root(NOBODY)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopping.set)
    if child:
        # Standard input closes when the service ends, however it ends.
        loop.add_reader(sys.stdin.fileno(), stopping.set)
    async with Server(room, uid).listening(listener):
        _tell_ready(child=child)
        await stopping.wait()
    return 0


def _tell_ready(*, child: bool) -> None:
    if child:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
    if address := os.environ.get("NOTIFY_SOCKET", ""):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            manager.sendall(b"READY=1")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="opengui workshop")
    parser.add_argument("--socket", type=Path, default=SOCKET, metavar="PATH")
    parser.add_argument("--user", default="opengui", metavar="NAME")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    sys.exit(serve(parser.parse_args()))
