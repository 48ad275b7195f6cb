"""The phone's files: a flat map of absolute paths. Folders exist because something lies in them or was made."""

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
    """Content and time of change (epoch seconds)."""

    content: bytes
    modified: int


class FileRefused(Exception):
    """Nothing was written; the message is the error's name in Android's words, such as "Permission denied"."""


@dataclass(slots=True)
class Files:
    """All files. `changed` is called after every change; `full` tells whether the storage takes no more."""

    files: dict[str, File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=lambda: {_plain(path) for path in FIRST_FOLDERS})
    links: set[str] = field(default_factory=set)
    """Paths that are links; where they lead to is of no importance here."""
    kernel: dict[str, Callable[[], bytes]] = field(default_factory=dict)
    """What the kernel tells under these paths."""
    changed: Callable[[], None] = lambda: None
    full: Callable[[], bool] = lambda: False

    def read(self, path: str) -> bytes | None:
        """The content, None when there is no such file."""
        if (told := self.kernel.get(path)) is not None:
            return told()
        found = self.files.get(_plain(path))
        return found.content if found else None

    def write(self, path: str, content: bytes, *, modified: int | None = None) -> None:
        """Makes or replaces a file. Raises FileRefused; then the old one is as it was."""
        self._check(path)
        if self.is_folder(path):
            raise FileRefused(IS_FOLDER)
        self.files[_plain(path)] = File(content, int(time.time()) if modified is None else modified)
        self.changed()

    def refusal(self, path: str) -> str:
        """Why the shell user may not write there; empty when it may."""
        return "" if (_plain(path) + "/").startswith(tuple(map(_plain_folder, WRITABLE))) else DENIED

    def make(self, path: str) -> None:
        """Makes a folder and those above it. Raises FileRefused."""
        self._check(path)
        self.folders.add(_plain(path))
        self.changed()

    def move(self, source: str, target: str) -> None:
        """Gives a file or folder that is there another name, which takes no room. Raises FileRefused."""
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
        """Removes a file, or a folder with everything in it. False when there was nothing."""
        plain = _plain(path)
        gone = [name for name in self.files if name == plain or (recursive and name.startswith(plain + "/"))]
        for name in gone:
            del self.files[name]
        folders = {name for name in self.folders if recursive and (name == plain or name.startswith(plain + "/"))}
        self.folders -= folders
        self.changed()
        return bool(gone or folders)

    def is_folder(self, path: str) -> bool:
        """Whether something lies in it or it was made."""
        plain = _plain(path)
        prefix = plain.rstrip("/") + "/"
        return plain == "/" or any(
            name == plain or name.startswith(prefix) for name in (*self.folders, *(f for f in self.files if f != plain))
        )

    def names(self, path: str) -> list[str]:
        """What lies directly in a folder, sorted."""
        prefix = _plain(path).rstrip("/") + "/"
        inside = [name[len(prefix) :] for name in (*self.files, *self.folders) if name.startswith(prefix)]
        return sorted({name.split("/", 1)[0] for name in inside if name})

    def stat(self, path: str) -> tuple[int, int, int]:
        """Mode, size in bytes and time of change; all 0 when there is nothing (as STAT answers)."""
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


def _plain_folder(path: str) -> str:
    return _plain(path) + "/"
