"""The data directory, and the lock by which one process owns it."""

from __future__ import annotations

import fcntl
import logging
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from bot.store.errors import DirectoryInUse, StoreError
from bot.texts import words

LOCK_NAME = "lock"
OTHERS = 0o077
"""The permission bits of everybody but the owner."""
SERVICE = "service"
"""Written after the process id in the lock file of a service."""
STARTS_S = 15.0
"""Seconds after taking the directory in which a service may not answer yet: starting takes 4 on slow boards."""
HOLD_DATA = (
    "*.sqlite3*",
    "console.json",
    "frames",
    "task-files",
    "skills",
    "agents",
    "mcp.json",
    "virtual-phones",
    "before-restore-*",
)
"""The service's own files in the directory. Others are never touched: it may be a folder with other things."""
OWN_FILES = ("skills/*/", "agents/*/", "mcp.json", "settings.json", "fleet-hub.json")
"""Files written by or for people, which another service that works with the same database needs as well."""

logger = logging.getLogger(__name__)


class DataDirectory:
    """Locks the data directory for one process: `with DataDirectory(path): …`.

    The lock belongs to the open lock file, so the system releases it when the process ends, however it ends. `serves`
    marks a process that answers requests, so that others wait for it while it starts. Files created meanwhile are
    readable by their owner only (umask(2)), even if the directory is later opened to others or copied.
    """

    def __init__(self, path: Path, *, serves: bool = False) -> None:
        self.path = path
        self._serves = serves
        self._lock: IO[str] | None = None
        self._umask = 0

    def __enter__(self) -> Self:
        """Make the directory when it is new, lock it, and close it to others.

        Raises DirectoryInUse, or StoreError, also when others could read it all the same.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (self.path / LOCK_NAME).open("a+", encoding="ascii")
        except OSError as error:
            raise StoreError(words("store.directory", path=self.path, reason=error.strerror)) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().split()
            lock.close()
            if owner:
                raise DirectoryInUse(words("store.in_use", path=self.path, pid=owner[0])) from None
            raise DirectoryInUse(words("store.in_use_unknown", path=self.path)) from None
        try:
            _close_to_others(self.path)
        except StoreError:
            lock.close()
            raise
        self._lock = lock
        self._umask = os.umask(OTHERS)
        # The process id is only information for others: on a full disk the lock works without it.
        with suppress(OSError):
            os.truncate(lock.fileno(), 0)
            os.write(lock.fileno(), f"{os.getpid()}{f' {SERVICE}' if self._serves else ''}".encode())
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.umask(self._umask)
            self._lock.close()
            self._lock = None


def own_files_in(path: Path) -> tuple[str, ...]:
    """Return the names, relative to `path`, of those of `OWN_FILES` that exist. Blocks on the disk."""
    return tuple(sorted(str(each.relative_to(path)) for pattern in OWN_FILES for each in path.glob(pattern)))


def service_starts(path: Path) -> bool:
    """Return whether a service locked the directory less than `STARTS_S` ago and still holds the lock. Blocks on the
    disk.
    """
    try:
        with (path / LOCK_NAME).open(encoding="ascii") as lock:
            if SERVICE not in lock.read().split() or time.time() - os.fstat(lock.fileno()).st_mtime > STARTS_S:
                return False
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _close_to_others(path: Path) -> None:
    """Remove others' permissions: what was created elsewhere may be open to all, and contains tasks and tokens."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & stat.S_ISVTX and mode & OTHERS:
        raise StoreError(words("store.open_to_others", path=path, reason=words("store.shared")))
    try:
        path.chmod(mode & ~OTHERS)
        for each in (found for pattern in HOLD_DATA for found in path.glob(pattern)):
            each.chmod(stat.S_IMODE(each.stat().st_mode) & ~OTHERS)
    except OSError as error:
        raise StoreError(words("store.open_to_others", path=path, reason=error.strerror)) from error
    if stat.S_IMODE(path.stat().st_mode) & OTHERS:
        # Some file systems, such as those of memory cards, know no rights and say nothing.
        raise StoreError(words("store.open_to_others", path=path, reason=words("store.no_rights")))
    if mode & OTHERS:
        logger.warning(
            "The data directory %s was accessible to other users (mode %o); now only its owner has access", path, mode
        )
