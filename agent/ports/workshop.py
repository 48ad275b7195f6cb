"""The interface of the workshop, a sandbox for shell commands and full Python from which nothing can get out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

Program = Literal["shell", "python"]
MAX_CODE: Final = 32_000
"""The maximum length of a program, in characters."""
MAX_SECONDS: Final = 60
MAX_FILES: Final = 200
MAX_FILE: Final = 8 * 1024 * 1024
"""The maximum size of one file that goes in or comes out, in bytes."""
MAX_ALL: Final = 32 * 1024 * 1024
"""The maximum size of all files that go in or come out with one job, in bytes."""
MAX_NAME: Final = 200
MAX_DEPTH: Final = 8


class Lack(StrEnum):
    """Why shell and full Python are not available. `workshop.lack` has a sentence for people for each."""

    OFF = "off"
    NO_BUBBLEWRAP = "no_bubblewrap"
    WRONG_BUBBLEWRAP = "wrong_bubblewrap"
    """The installed `bwrap` is not bubblewrap 0.8 or later."""
    NO_NAMESPACES = "no_namespaces"
    """The kernel does not permit sandboxes here: the systemd unit, a container's seccomp or AppArmor forbids it."""
    LEAKS = "leaks"
    """A sandbox was created, but code inside it could reach something outside."""
    MACHINE = "machine"
    """The machine is not Linux on x86_64 or aarch64."""
    ABSENT = "absent"
    """This installation does not include the workshop."""
    SILENT = "silent"
    """The workshop's socket exists, but nothing answers there."""


class WorkshopError(Exception):
    """A job was not run, or its result is unknown; the message is for the model."""


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A regular file that goes into or comes out of a job: its path below the task's folder, such as `a/b.txt`, and its
    content.
    """

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Job:
    """A program to run in the workshop. `files` are in its folder when it begins, and `seconds` is its time limit."""

    program: Program
    code: str
    files: tuple[WorkFile, ...] = ()
    seconds: int = MAX_SECONDS


Ending = Literal["exit", "time", "memory", "disk", "processes", "output", "broken"]
"""How a job ended: "exit" if it ended normally, otherwise the limit that it exceeded. "broken" means that its sandbox
collapsed, for example because the program killed it; no files are returned then.
"""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job.

    `code` is the exit code. `output` is what it printed, shortened to its head and tail if long; `printed` is the full
    length in bytes. `files` are the new and changed files. `left_out` names those that were not returned: links,
    devices, and files that were too large or too many. `seconds` is how long it ran.
    """

    ending: Ending
    code: int
    output: str
    printed: int = 0
    files: tuple[WorkFile, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0


class Workshop(Protocol):
    """Runs jobs, each in its own sandbox."""

    async def run(self, job: Job) -> JobResult:
        """Run the job's code in the sandbox (the workshop) and wait for its end. Cancelling this call ends it, too.

        Raises WorkshopError if the job was not run or its result is unknown.
        """


def fit_path(path: str) -> bool:
    """Whether this is a valid path of a file below a task's folder; checked on both sides of the interface."""
    parts = path.split("/")
    return (
        0 < len(path) <= MAX_NAME
        and path.isprintable()
        and len(parts) <= MAX_DEPTH
        and not any(part in {"", ".", ".."} or len(part.encode()) > MAX_NAME for part in parts)
    )


class FakeWorkshop:
    """A Workshop for tests that runs nothing: it answers each job with the result of a function, and records the jobs
    in `jobs`.
    """

    def __init__(self, answer: Callable[[Job], JobResult] | None = None) -> None:
        self.jobs: list[Job] = []
        self._answer = answer or (lambda job: JobResult("exit", 0, job.code, printed=len(job.code.encode())))

    async def run(self, job: Job) -> JobResult:
        """Record the job and return the function's result. Implements `Workshop.run`."""
        self.jobs.append(job)
        return self._answer(job)
