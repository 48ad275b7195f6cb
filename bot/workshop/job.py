"""One job from its start in a room to its end: output, time, memory and files are bounded, and nothing stays."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import tarfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

from agent.ports.workshop import MAX_ALL, MAX_FILE, MAX_FILES, Ending, Job, JobResult, WorkFile, fit_path
from bot.process_limits import MEBIBYTE
from bot.workshop.room import FOLDER, MEMORY, Room
from bot.workshop.usage import entries_of, processes_of, takes_more_than

HEAD, TAIL = 48_000, 16_000
"""Bytes of the output that are kept of its beginning and its end."""
MAX_OUTPUT: Final = 16 * MEBIBYTE
"""Bytes; a program that prints more is ended."""
MAX_ENTRIES: Final = 4000
"""Files and folders, of which each takes memory of the kernel that no other limit counts."""
MAX_TAR: Final = FOLDER + 8 * MEBIBYTE
LOOK_S: Final = 0.05
"""Seconds between two looks at a job's memory and files."""
GRACE_S: Final = 5.0
"""A room that does not end in time by itself is ended from here; and that long its files may take to come out."""
MAX_PROCESSES: Final = 100
"""More than a room's own limit lets there be: where that does not hold, the job is ended."""
NOBODY: Final = 65534
KILLED: Final = 137
"""The exit code of a program that SIGKILL has ended."""
_PIECE: Final = 64 * 1024


@dataclass
class _Output:
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total: int = 0

    def take(self, piece: bytes) -> None:
        self.total += len(piece)
        room = HEAD - len(self.head)
        self.head += piece[:room]
        self.tail += piece[room:] if room < len(piece) else b""
        del self.tail[:-TAIL]

    @property
    def text(self) -> str:
        missing = self.total - len(self.head) - len(self.tail)
        between = f"\n[… {missing} bytes are left out here …]\n".encode() if missing else b""
        return (bytes(self.head) + between + bytes(self.tail)).decode("utf-8", "replace")


class RoomGone(Exception):
    """No room could be made; the text is what bubblewrap said."""


async def run(room: Room, job: Job) -> JobResult:
    """Run the job to its end; a cancelled one is ended, with all that it has started. Raises RoomGone."""
    began = time.monotonic()
    with ExitStack() as files:
        command, passed = room.command(job, files)
        try:
            process = await asyncio.create_subprocess_exec(
                *_as_nobody(),
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={"PATH": os.defpath},
                cwd="/",
                pass_fds=passed,
                start_new_session=True,
            )
        except OSError as error:
            raise RoomGone(error.strerror or "") from error
    return await _followed(process, job, began)


def _as_nobody() -> list[str]:
    """What starts the room as nobody where this is root: the kernel counts no processes of root, so nothing would end a
    program that starts itself again and again. `setpriv` is where `prlimit` is; uvloop starts nothing as another user.
    """
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]


async def _followed(process: asyncio.subprocess.Process, job: Job, began: float) -> JobResult:
    output, packed = _Output(), bytearray()
    assert process.stdout is not None
    assert process.stderr is not None
    ended: asyncio.Future[Any] = asyncio.gather(
        _read_output(process.stderr, output), _read_files(process.stdout, packed), process.wait()
    )
    watching = asyncio.create_task(_watch(process.pid, output))
    try:
        await asyncio.wait([ended, watching], timeout=job.seconds + GRACE_S, return_when=asyncio.FIRST_COMPLETED)
        over: Ending | None = watching.result() if watching.done() else None if ended.done() else "time"
    finally:
        watching.cancel()
        # With bubblewrap ends the first process of the room, and with that everything in it. That process is ended by
        # itself too: in its first moment it is not tied to bubblewrap yet, and would stay for good. Both pipes are read
        # to their end: asyncio knows of no exit before that.
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        await asyncio.wait({ended}, timeout=GRACE_S)
        ended.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(asyncio.gather(ended, watching, return_exceptions=True))
    seconds = time.monotonic() - began
    code = process.returncode if process.returncode is not None else -9
    if over is not None:
        return JobResult(over, code, output.text, output.total, seconds=seconds)
    if not packed and output.head.startswith((b"bwrap: ", b"setpriv: ")):
        raise RoomGone(output.text[:400])
    took, left_out = await asyncio.to_thread(unpacked, bytes(packed), {file.path: file.content for file in job.files})
    ending: Ending = "time" if code == KILLED and seconds >= job.seconds else "exit" if packed else "broken"
    return JobResult(ending, code, output.text, output.total, took, left_out, seconds)


async def _read_output(stream: asyncio.StreamReader, output: _Output) -> None:
    while piece := await stream.read(_PIECE):
        output.take(piece)


async def _read_files(stream: asyncio.StreamReader, packed: bytearray) -> None:
    while piece := await stream.read(_PIECE):
        packed += piece[: max(0, MAX_TAR - len(packed))]


async def _watch(pid: int, output: _Output) -> Ending:
    """Looks again and again until the job has more than it may, and says of what."""
    while True:
        await asyncio.sleep(LOOK_S)
        if output.total > MAX_OUTPUT:
            return "output"
        inside = processes_of(pid)
        if len(inside) > MAX_PROCESSES:
            return "processes"
        if takes_more_than(MEMORY, inside):
            return "memory"
        if entries_of(inside[-1]) > MAX_ENTRIES:
            return "disk"


def unpacked(packed: bytes, given: dict[str, bytes]) -> tuple[tuple[WorkFile, ...], tuple[str, ...]]:
    """The files of a tar that are new or differ from those `given`, and the names of what is not taken.

    What is in the tar was written by the program: only regular files with a plain path are taken, and of those so many
    and so much as may be. Links and devices are named and left.
    """
    took: dict[str, bytes] = {}
    left_out: list[str] = []
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
            for entry in tar:
                path = entry.name.removeprefix("./")
                if entry.isdir():
                    continue
                fits = entry.isreg() and not entry.issparse() and fit_path(path)
                if not fits or entry.size > MAX_FILE or size + entry.size > MAX_ALL or len(took) >= MAX_FILES:
                    left_out.append(path)
                    continue
                file = tar.extractfile(entry)
                content = file.read(entry.size) if file is not None else b""
                if len(content) == entry.size and given.get(path) != content:
                    took[path] = content
                    size += len(content)
                if len(left_out) > MAX_FILES:
                    break
    except (tarfile.TarError, ValueError, OverflowError, EOFError, OSError):
        left_out.append("…")
    names = (name if name.isprintable() else repr(name) for name in left_out)
    return tuple(WorkFile(*one) for one in took.items()), tuple(name[:100] for name in names)[:20]
