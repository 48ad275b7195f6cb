"""Runs one job in a room (a sandbox), with limits for output, time, memory and files, and measures what its processes
use. Nothing is left behind.

Control groups would count it as well, but a program started by hand has none.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import tarfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agent.ports.workshop import MAX_ALL, MAX_FILE, MAX_FILES, Ending, Job, JobResult, WorkFile, fit_path
from bot.process_limits import MEBIBYTE
from bot.workshop.room import FOLDER, MEMORY, Room

_MAPPED: Final = (b"RssAnon:", b"RssShmem:", b"VmSwap:")
_SHARE: Final = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
_TABLES: Final = (b"VmPTE:",)
"""Page tables, the only trace of addresses that were only read."""
_HIDDEN: Final = b"/dev/zero (deleted)"
"""Memory that processes share without a file. All of it remains while a single page is mapped, and no file shows its
size. The system call filter refuses it, except when a program maps /dev/zero itself.
"""


def processes_of(pid: int) -> list[int]:
    """Return the ids of the process and all its descendants, parents first. A process whose parent has ended counts as
    a child of the room's first process.
    """
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                with contextlib.suppress(OSError, ValueError):
                    found += map(int, (thread / "children").read_bytes().split())
    return found


def takes_more_than(most: int, pids: Sequence[int]) -> bool:
    """Return whether these processes together use more than `most` bytes of memory, including swap. Also True if one
    shares memory through /dev/zero, because its size cannot be found out.

    Shared memory counts once. Finding that out takes milliseconds, so it is only done if the sum of what each process
    has mapped exceeds the limit.
    """
    if any(_HIDDEN in _read(pid, "maps") for pid in pids):
        return True
    if sum(_bytes(pid, "status", (*_MAPPED, *_TABLES)) for pid in pids) <= most:
        return False
    return sum(_bytes(pid, "smaps_rollup", _SHARE) + _bytes(pid, "status", _TABLES) for pid in pids) > most


def _bytes(pid: int, name: str, wanted: tuple[bytes, ...]) -> int:
    """Sum these lines, each given in kB."""
    return sum(int(line.split()[1]) * 1024 for line in _read(pid, name).splitlines() if line.startswith(wanted))


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # it has ended


def entries_of(pid: int) -> int:
    """Return the number of files and folders in the job's folder. `pid` is a process in the room. 0 if the room does
    not exist yet or is gone.
    """
    root = Path(f"/proc/{pid}/root")
    try:
        if root.samefile("/"):
            return 0  # the room does not exist yet, and this would be a folder of the host
        kept = os.statvfs(root / "work")
    except OSError:
        return 0
    return kept.f_files - kept.f_ffree


HEAD, TAIL = 48_000, 16_000
"""Bytes kept from the beginning and the end of the output."""
MAX_OUTPUT: Final = 16 * MEBIBYTE
"""Bytes of output above which a program is ended."""
MAX_ENTRIES: Final = 4000
"""Files and folders of a job. Each takes kernel memory that no other limit counts."""
MAX_TAR: Final = FOLDER + 8 * MEBIBYTE
LOOK_S: Final = 0.05
"""Seconds between two checks of a job's memory and files."""
GRACE_S: Final = 5.0
"""Seconds after its time limit at which a room is ended from outside, and within which its files must arrive."""
MAX_PROCESSES: Final = 100
"""Processes at which a job is ended, above the room's own limit, in case that does not hold."""
NOBODY: Final = 65534
KILLED: Final = 137
"""Exit code of a program ended by SIGKILL."""
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
    """No room could be made. The text is bubblewrap's error."""


async def run(room: Room, job: Job) -> JobResult:
    """Run the job in a room to its end, and return its result. If cancelled, end it with everything that it has
    started. Raises RoomGone.
    """
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
    """The prefix that starts a room as nobody if this process is root. The kernel does not limit root's processes, so a
    fork bomb could not be stopped. `setpriv` comes in the same package as `prlimit`; uvloop cannot start a process as
    another user.
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
        # When bubblewrap ends, the first process of the room ends, and with it everything inside. That process is also
        # killed separately: at first it is not tied to bubblewrap yet, and would stay for good. Both pipes are read to
        # their end, because asyncio notices no exit before that.
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
    """Check repeatedly until the job exceeds a limit; return which one."""
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
    """Return the files of a tar archive that are new or differ from those in `given`, and the names of those that were
    not taken.

    The program in the room wrote the archive, so only regular files with a plain path are taken, up to the limits of
    number and size. Links and devices are named but not taken.
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
