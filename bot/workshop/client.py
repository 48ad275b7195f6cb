"""Sends jobs to a workshop, either one that runs elsewhere or one that the service starts itself, and decides whether
shell and full Python are available, and otherwise why not.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.ports.workshop import Job, JobResult, Lack, WorkshopError
from bot.part import WorkshopOffer
from bot.workshop import SOCKET
from bot.workshop.probe import find_room
from bot.workshop.protocol import MAX_HEAD, Answer, BadMessage, receive, request_of, send
from devices.processes import child_environment

CONNECT_S: Final = 5.0
WAITS_S: Final = 90.0
"""Seconds in addition to the job's own: it may wait for two others, and its files must be transferred."""
START_S: Final = 20.0
STOP_S: Final = 5.0
_REFUSED: Final = {
    "busy": "Not run: the workshop has too many jobs at once. Try again later.",
    "no room": "Not run: the workshop can make no room for it any more.",
}


class SocketWorkshop:
    """A workshop that listens at this socket path, whichever process started it. Its answers are not trusted."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def run(self, job: Job) -> JobResult:
        """Run a job and wait for its end; cancelling this ends the job. Raises WorkshopError."""
        try:
            head = request_of(job)
        except BadMessage as error:
            raise WorkshopError("Not run: the program or its files are larger than the workshop takes.") from error
        try:
            connecting = asyncio.open_unix_connection(str(self._path), limit=MAX_HEAD)
            reader, writer = await asyncio.wait_for(connecting, CONNECT_S)
        except (OSError, TimeoutError) as error:
            raise WorkshopError("Not run: the workshop does not answer.") from error
        try:
            async with asyncio.timeout(job.seconds + WAITS_S):
                await send(writer, head, job.files)
                answer, files = await receive(reader, Answer)
        except (OSError, TimeoutError, BadMessage) as error:
            told = "The workshop gave no answer that can be used; what came of the program is not known."
            raise WorkshopError(told) from error
        finally:
            # At once, because anything still to be written belongs to a job whose result is no longer wanted.
            writer.transport.abort()
        if answer.refused:
            raise WorkshopError(_REFUSED[answer.refused])
        return JobResult(
            answer.ending,
            answer.code,
            answer.output,
            answer.printed,
            files,
            tuple(answer.left_out),
            answer.seconds,
        )


class OwnWorkshop:
    """A workshop that this service starts with the first job, as a child process without secrets and network, and that
    `close` stops. If it has died, the next job starts it again.

    It gets neither the environment nor the open files of the service, and exits when the service is gone.
    """

    def __init__(self, command: Callable[[Path], tuple[str, ...]] | None = None) -> None:
        self._command = command or _child
        self._folder: Path | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The process id of the child; None if it is not running."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    async def run(self, job: Job) -> JobResult:
        """Run a job and wait for its end; cancelling this ends the job. Raises WorkshopError."""
        return await SocketWorkshop(await self._started()).run(job)

    async def close(self) -> None:
        """Stop the workshop, with the jobs that it is running."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), STOP_S)
            except TimeoutError:
                process.kill()
                await process.wait()
        folder, self._folder = self._folder, None
        if folder is not None:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _started(self) -> Path:
        async with self._starting:
            if self.pid is None or self._folder is None:
                await self.close()
                self._folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="opengui-workshop-"))
                try:
                    async with asyncio.timeout(START_S):
                        await self._start(self._folder / "socket")
                except (OSError, TimeoutError) as error:
                    await self.close()
                    raise WorkshopError("Not run: the workshop could not be started.") from error
            return self._folder / "socket"

    async def _start(self, path: Path) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command(path),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=child_environment(more={"HOME": "/"}),
            cwd="/",
            start_new_session=True,
        )
        assert self._process.stdout is not None
        if await self._process.stdout.readline() != b"ready\n":
            raise OSError("the workshop ended at its start")


def _child(path: Path) -> tuple[str, ...]:
    module = ("-I", "-m", "bot.workshop")
    return (sys.executable, *module, "--socket", str(path), "--user", str(os.geteuid()), "--child")


LOOK: Final = Job("shell", "echo held", seconds=5)


async def look_for_workshop(setting: str) -> WorkshopOffer:
    """Find a workshop: for "auto" that of the systemd unit or container if its socket exists, else a child of this
    service if a room can be isolated; for a path the one there; for "off" none.

    A test job is really run. Nothing keeps running afterwards, and without bubblewrap nothing is started at all.
    """
    if setting == "off":
        return WorkshopOffer(None, Lack.OFF)
    path = SOCKET if setting == "auto" else Path(setting)
    if setting != "auto" or path.exists():
        workshop = SocketWorkshop(path)
        try:
            held = (await workshop.run(LOOK)).output == "held\n"
        except WorkshopError:
            held = False
        return WorkshopOffer(workshop) if held else WorkshopOffer(None, Lack.SILENT)
    room = await find_room()
    if isinstance(room, Lack):
        return WorkshopOffer(None, room)
    own = OwnWorkshop()
    return WorkshopOffer(own, close=own.close)
