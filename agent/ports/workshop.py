"""The workshop: where shell and full Python run, in rooms from which nothing gets out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

Program = Literal["shell", "python"]
MAX_CODE: Final = 32_000
"""Characters of a program."""
MAX_SECONDS: Final = 60
MAX_FILES: Final = 200
MAX_FILE: Final = 8 * 1024 * 1024
"""Bytes of one file that goes in or comes out."""
MAX_ALL: Final = 32 * 1024 * 1024
"""Bytes of all files that go in or come out with one job."""
MAX_NAME: Final = 200
MAX_DEPTH: Final = 8


class Lack(StrEnum):
    """Why shell and full Python are not offered. Its words for people stand in `workshop.lack`."""

    OFF = "off"
    NO_BUBBLEWRAP = "no_bubblewrap"
    WRONG_BUBBLEWRAP = "wrong_bubblewrap"
    """There is a `bwrap`, and it is not bubblewrap 0.8 or later."""
    NO_NAMESPACES = "no_namespaces"
    """The kernel lets nobody here make a room: the unit, a container's seccomp or AppArmor forbids it."""
    LEAKS = "leaks"
    """A room could be made, and what ran in it reached something outside."""
    MACHINE = "machine"
    """Not Linux on x86_64 or aarch64."""
    ABSENT = "absent"
    """This installation has no such part."""
    SILENT = "silent"
    """There is a socket, and no workshop answers there."""


class WorkshopError(Exception):
    """A job was not run, or nobody knows what came of it; the sentence is for the model."""


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A regular file: its path below the task's folder, as `a/b.txt`, and what is in it."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Job:
    """A program, the files that lie in its folder when it begins, and how long it may take."""

    program: Program
    code: str
    files: tuple[WorkFile, ...] = ()
    seconds: int = MAX_SECONDS


Ending = Literal["exit", "time", "memory", "disk", "processes", "output", "broken"]
"""How a job ended: by itself, or because it took more than it may. "broken": its room fell in, as when the program
killed what holds it; there are no files of it then.
"""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What came of a job. `output` is what it printed, with its head and tail when it was much; `printed` is all that
    it printed, in bytes. `files` are those that are new or differ, `left_out` the names of those that were not taken:
    links, devices, and what was too large or too many.
    """

    ending: Ending
    code: int
    output: str
    printed: int = 0
    files: tuple[WorkFile, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0


class Workshop(Protocol):
    """Runs jobs, each in a room of its own."""

    async def run(self, job: Job) -> JobResult:
        """Run it and wait for its end; when this is cancelled, the job is ended too.

        Raises WorkshopError when it was not run, or when nobody knows.
        """
        ...


def fit_path(path: str) -> bool:
    """Whether this may be the path of a file below a task's folder, on both sides of the border."""
    parts = path.split("/")
    return (
        0 < len(path) <= MAX_NAME
        and path.isprintable()
        and len(parts) <= MAX_DEPTH
        and not any(part in {"", ".", ".."} or len(part.encode()) > MAX_NAME for part in parts)
    )


class FakeWorkshop:
    """A workshop that runs nothing: it answers with what a function makes of each job, and remembers the jobs."""

    def __init__(self, answer: Callable[[Job], JobResult] | None = None) -> None:
        self.jobs: list[Job] = []
        self._answer = answer or (lambda job: JobResult("exit", 0, job.code, printed=len(job.code.encode())))

    async def run(self, job: Job) -> JobResult:
        """See Workshop."""
        self.jobs.append(job)
        return self._answer(job)
