"""The files of tasks: each task has one folder, and no path leads out of it."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

MOST_BYTES: Final = 4_000_000
"""The maximum bytes of one file."""
MOST_ALL: Final = 50_000_000
"""The maximum bytes of all files of a task."""
MOST_FILES: Final = 500
MOST_DEPTH: Final = 6
_TASK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
_FLAGS: Final = os.O_NOFOLLOW | os.O_CLOEXEC


class FileRefused(Exception):
    """A file was not read or written; the message tells the model why."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file in a task's folder: its path within the folder, and its size in bytes."""

    path: str
    size: int


class TaskFiles:
    """The folders of all tasks, below one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def of(self, task: str) -> TaskFolder:
        """Return the folder of a task, which is created at the first write. Raises FileRefused for an invalid task
        name.
        """
        if _TASK.fullmatch(task) is None or ".." in task:
            raise FileRefused("There is no folder for this task.")
        return TaskFolder(self._root / task)


class TaskFolder:
    """The folder of one task. Each part of a path is opened separately without following links, so that no path leads
    out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> str:
        """Return the content of a file as text, with � for invalid UTF-8. Raises FileRefused."""
        return self.read_bytes(name).decode("utf-8", "replace")

    def read_bytes(self, name: str) -> bytes:
        """Return the content of a file as bytes. Raises FileRefused."""
        parts = _parts(name)
        with _explained(name):
            folder = self._open(parts[:-1], make=False)
            try:
                # Non-blocking: a named pipe would wait forever.
                number = os.open(parts[-1], os.O_RDONLY | os.O_NONBLOCK | _FLAGS, dir_fd=folder)
            finally:
                os.close(folder)
            with os.fdopen(number, "rb") as file:
                about = os.fstat(number)
                if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
                    raise FileRefused(f"{name} is no plain file.")
                data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise FileRefused(f"{name} is larger than {MOST_BYTES // 1_000_000} MB.")
        return data

    def write(self, name: str, text: str | bytes) -> int:
        """Write a whole file, replacing an existing one, and return its size in bytes. Raises FileRefused."""
        parts, data = _parts(name), text.encode("utf-8", "replace") if isinstance(text, str) else text
        if len(data) > MOST_BYTES:
            raise FileRefused(f"Not written: a file may have {MOST_BYTES // 1_000_000} MB.")
        there = {entry.path: entry.size for entry in self.entries()}
        there.pop("/".join(parts), None)
        if len(there) >= MOST_FILES or sum(there.values()) + len(data) > MOST_ALL:
            raise FileRefused(
                f"Not written: a task may have {MOST_FILES} files of {MOST_ALL // 1_000_000} MB together."
            )
        with _explained(name):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = self._open(parts[:-1], make=True)
            try:
                spare = f".{os.getpid()}-{os.urandom(6).hex()}.part"
                number = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600, dir_fd=folder)
                try:
                    with os.fdopen(number, "wb") as file:
                        file.write(data)
                    _not_a_folder(parts[-1], folder)
                    os.replace(spare, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    os.unlink(spare, dir_fd=folder)
                    raise
            finally:
                os.close(folder)
        return len(data)

    def entries(self) -> tuple[FileEntry, ...]:
        """Return the regular files in the folder, sorted by path; links are left out. Raises FileRefused."""
        with _explained("the folder"):
            return tuple(sorted(self._walk(), key=lambda entry: entry.path)) if self.path.is_dir() else ()

    def _walk(self) -> Iterator[FileEntry]:
        top = str(self.path)
        for folder, folders, names, number in os.fwalk(top, follow_symlinks=False):
            below = PurePosixPath(os.path.relpath(folder, top))
            if len(below.parts) >= MOST_DEPTH:
                folders.clear()
            for name in names:
                about = os.stat(name, dir_fd=number, follow_symlinks=False)
                if stat.S_ISREG(about.st_mode) and not name.endswith(".part"):
                    yield FileEntry(str(below / name), about.st_size)

    def _open(self, parts: tuple[str, ...], *, make: bool) -> int:
        """Open a folder below this one and return its descriptor; no step of the path may be a link."""
        number = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
        for part in parts:
            try:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=number)
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _FLAGS, dir_fd=number)
            finally:
                os.close(number)
            number = below
        return number


class _explained:  # noqa: N801 - a context manager
    """Turns file errors into sentences for the model."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise FileRefused(f"There is no file {self._name}.") from error
        if isinstance(error, OSError) and error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}:
            raise FileRefused(f"{self._name} is no plain file in the folder of this task.") from error
        if isinstance(error, OSError):
            raise FileRefused(f"{self._name} cannot be used ({os.strerror(error.errno or 0)}).") from error


def _not_a_folder(name: str, folder: int) -> None:
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(about.st_mode):
        raise FileRefused(f"{name} is no plain file.")


def _parts(name: str) -> tuple[str, ...]:
    """Split a path inside the folder. Raises FileRefused if it leads outside."""
    parts = PurePosixPath(name).parts
    odd = any(part in {"..", "/", "//"} or "\0" in part or len(part.encode("utf-8", "replace")) > 200 for part in parts)
    if not parts or odd or len(parts) > MOST_DEPTH or "\\" in name or name.endswith(".part") or not name.isprintable():
        raise FileRefused("Only paths inside the folder of this task are used, such as notes/prices.txt.")
    return parts
