"""The workshop's server: gives up what it does not need (the network and root), accepts jobs from one user, runs two at
a time, and survives any input.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from agent.ports.workshop import Job, JobResult
from bot.workshop.job import RoomGone, run
from bot.workshop.protocol import Answer, BadMessage, RunRequest, answer_of, receive, send
from bot.workshop.room import Room

logger = logging.getLogger(__name__)


_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_DUMPABLE: Final = 4
"""PR_SET_DUMPABLE: without it, a process that has left root may not write the id map of its own namespace."""


def leave_network() -> None:
    """Move this process into an empty network namespace. It must have only one thread.

    Raises OSError if the kernel does not allow that.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_NETWORK if uid == 0 else _NEW_USER | _NEW_NETWORK) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    if uid != 0:
        # Ids stay the same, because the one user who may connect is recognised by them.
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")


def leave_root(uid: int) -> None:
    """Change to this user if the process runs as root; the workshop needs no privileges."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        ctypes.CDLL(None).prctl(_DUMPABLE, 1, 0, 0, 0)


AT_ONCE: Final = 2
MOST: Final = 16
"""Connections at once; one more is answered with "busy"."""
PASS_S: Final = 20.0
"""Seconds within which a whole request or answer must be transferred."""


class Server:
    """Runs the jobs that the user with this id sends through a socket; nobody else may send any."""

    def __init__(self, room: Room, uid: int) -> None:
        self._room = room
        self._uid = uid
        self._free = asyncio.Semaphore(AT_ONCE)
        self._open = 0
        self._serving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self, listener: socket.socket) -> AsyncIterator[None]:
        """Serve this listening socket until the block ends, which also ends the jobs that are running."""
        server = await asyncio.start_unix_server(self._connected, sock=listener)
        try:
            yield
        finally:
            server.close()
            serving = tuple(self._serving)
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A separate task, because Python 3.11 reports one made by asyncio as an error when it is cancelled at the end.
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if _peer(writer) != self._uid:
                logger.warning("A connection from another user than %s was refused.", self._uid)
                return
            await self._answer(reader, writer)
        except (BadMessage, TimeoutError) as error:
            logger.warning("A request was refused: %s.", error if isinstance(error, BadMessage) else "it took too long")
        except OSError:
            pass  # the client is gone
        finally:
            self._open -= 1
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), 1)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._open > MOST:
            await asyncio.wait_for(send(writer, Answer(refused="busy"), ()), PASS_S)
            return
        head, files = await asyncio.wait_for(receive(reader, RunRequest), PASS_S)
        job = asyncio.create_task(self._run(Job(head.program, head.code, files, head.seconds)))
        gone = asyncio.create_task(reader.read(1))
        try:
            # The client sends nothing more, so a read can only mean that it closed the connection and no longer wants
            # the result.
            await asyncio.wait({job, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not job.done():
                return
            try:
                result = job.result()
            except RoomGone as error:
                logger.error("Sandboxes can no longer be made: %s", error)  # noqa: TRY400 - a sentence, not a trace
                await asyncio.wait_for(send(writer, Answer(refused="no room"), ()), PASS_S)
                return
            await asyncio.wait_for(send(writer, answer_of(result), result.files), PASS_S)
        finally:
            job.cancel()
            gone.cancel()
            await asyncio.gather(job, gone, return_exceptions=True)

    async def _run(self, job: Job) -> JobResult:
        async with self._free:
            return await run(self._room, job)


def _peer(writer: asyncio.StreamWriter) -> int:
    connection = writer.get_extra_info("socket")
    size = struct.calcsize("3i")
    return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[1])


def bound(path: Path) -> socket.socket:
    """Return a listening socket at this path, replacing one left by a former process. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
        # Anybody may connect; all but the one user are sent away. The folder's mode decides who can reach it.
        path.chmod(0o666)
        listener.listen(MOST)
    except OSError:
        listener.close()
        raise
    return listener
