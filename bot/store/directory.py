"""The data directory and its one owner."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from bot.store.errors import DirectoryInUse, StoreError
from bot.texts import words

LOCK_NAME = "lock"


class DataDirectory:
    """Holds the directory for one process: `with DataDirectory(path): …`.

    The lock belongs to the open file, so the system lets go of it with the process, however that ends.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        """Make the directory when it is new, and lock it. Raises DirectoryInUse or StoreError."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (self.path / LOCK_NAME).open("a+", encoding="ascii")
        except OSError as error:
            raise StoreError(words("store.directory", path=self.path, reason=error.strerror)) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip()
            lock.close()
            if owner:
                raise DirectoryInUse(words("store.in_use", path=self.path, pid=owner)) from None
            raise DirectoryInUse(words("store.in_use_unknown", path=self.path)) from None
        self._lock = lock
        # The number is only told to others: on a full disk the lock holds without it.
        with suppress(OSError):
            os.truncate(lock.fileno(), 0)
            os.write(lock.fileno(), str(os.getpid()).encode())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let go of it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
