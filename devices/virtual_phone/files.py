"""The phone's file system: a flat map of absolute paths. Folders exist because they contain something or were
created.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field

FILE_MODE = stat.S_IFREG | 0o660
FOLDER_MODE = stat.S_IFDIR | 0o771
# Where the shell user may write on a phone that is not rooted.
WRITABLE = ("/sdcard/", "/storage/emulated/0/", "/data/local/tmp/")
# EACCES, ENOSPC and EISDIR as bionic's strerror words them.
DENIED = "Permission denied"
NO_SPACE = "No space left on device"
IS_FOLDER = "Is a directory"
FIRST_FOLDERS = (
    "/sdcard/Download",
    "/sdcard/Pictures",
    "/sdcard/DCIM/Camera",
    "/sdcard/Documents",
    "/data/local/tmp",
    "/system/bin",
)


@dataclass(slots=True)
class File:
    """A file: its content, and when it was changed (Unix seconds)."""

    content: bytes
    modified: int


class FileRefused(Exception):
    """Nothing was written. The message is the error in Android's words, such as "Permission denied"."""


@dataclass(slots=True)
class Files:
    """All files of the phone. `changed` is called after every change; `full` returns whether the storage is full."""

    files: dict[str, File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=lambda: {_plain(path) for path in FIRST_FOLDERS})
    links: set[str] = field(default_factory=set)
    """Paths that are links; their targets do not matter here."""
    kernel: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    """Files of the kernel such as /proc/uptime: functions that return their content, by path."""
    changed: Callable[[], None] = lambda: None
    full: Callable[[], bool] = lambda: False

    def read(self, path: str) -> bytes | None:
        """Return the content of a file; None when there is no such file."""
        if (told := self.kernel.get(path)) is not None:
            return told()
        found = self.files.get(_plain(path))
        return found.content if found else None

    def write(self, path: str, content: bytes, *, modified: int | None = None) -> None:
        """Create or replace a file; `modified` is in Unix seconds, by default now. Raises FileRefused; the old file is
        then unchanged.
        """
        self._check(path)
        if self.is_folder(path):
            raise FileRefused(IS_FOLDER)
        self.files[_plain(path)] = File(content, int(time.time()) if modified is None else modified)
        self.changed()

    def refusal(self, path: str) -> str:
        """Return why the shell user may not write at this path; "" if it may."""
        return "" if (_plain(path) + "/").startswith(tuple(f"{_plain(folder)}/" for folder in WRITABLE)) else DENIED

    def make(self, path: str) -> None:
        """Create a folder and its parents. Raises FileRefused."""
        self._check(path)
        self.folders.add(_plain(path))
        self.changed()

    def move(self, source: str, target: str) -> None:
        """Rename an existing file or folder. Raises FileRefused."""
        for path in (source, target):
            if self.refusal(path):
                raise FileRefused(self.refusal(path))
        old, new = _plain(source), _plain(target)
        for name in [name for name in self.files if name == old or name.startswith(f"{old}/")]:
            self.files[new + name.removeprefix(old)] = self.files.pop(name)
        moved = {name for name in self.folders if name == old or name.startswith(f"{old}/")}
        self.folders = (self.folders - moved) | {new + name.removeprefix(old) for name in moved}
        self.changed()

    def _check(self, path: str) -> None:
        problem = self.refusal(path) or (NO_SPACE if self.full() else "")
        if problem:
            raise FileRefused(problem)

    def remove(self, path: str, *, recursive: bool = False) -> bool:
        """Delete a file or, if `recursive`, a folder with everything in it. Returns False when there was nothing."""
        plain = _plain(path)
        gone = [name for name in self.files if name == plain or (recursive and name.startswith(plain + "/"))]
        for name in gone:
            del self.files[name]
        folders = {name for name in self.folders if recursive and (name == plain or name.startswith(plain + "/"))}
        self.folders -= folders
        self.changed()
        return bool(gone or folders)

    def is_folder(self, path: str) -> bool:
        """Return whether the path is a folder: it contains something or was created."""
        plain = _plain(path)
        prefix = plain.rstrip("/") + "/"
        return plain == "/" or any(
            name == plain or name.startswith(prefix) for name in (*self.folders, *(f for f in self.files if f != plain))
        )

    def names(self, path: str) -> list[str]:
        """Return the names directly in a folder, sorted."""
        prefix = _plain(path).rstrip("/") + "/"
        inside = [name[len(prefix) :] for name in (*self.files, *self.folders) if name.startswith(prefix)]
        return sorted({name.split("/", 1)[0] for name in inside if name})

    def stat(self, path: str) -> tuple[int, int, int]:
        """Return the mode, size in bytes and modification time in Unix seconds of a path; all 0 when there is nothing
        (like STAT).
        """
        if path in self.links:
            return stat.S_IFLNK | 0o777, 0, 0
        found = self.files.get(_plain(path))
        if found:
            return FILE_MODE, len(found.content), found.modified
        return (FOLDER_MODE, 4096, 0) if self.is_folder(path) else (0, 0, 0)


def _plain(path: str) -> str:
    """An absolute path without `.` and `..`; /sdcard is a link to the shared storage, as on Android."""
    kept: list[str] = []
    for name in path.split("/"):
        if name == "..":
            kept = kept[:-1]
        elif name not in {"", "."}:
            kept.append(name)
    if kept[:1] == ["sdcard"]:
        kept[:1] = ["storage", "emulated", "0"]
    return "/" + "/".join(kept)
