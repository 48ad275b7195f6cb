"""Errors of the data directory and the database. Each message is written for the operator and says what to do."""

from __future__ import annotations

import errno


class StoreError(OSError):
    """The store could not be read or written. `strerror` is a sentence for the operator."""

    def __init__(self, sentence: str, code: int = errno.EIO) -> None:
        super().__init__(code, sentence)

    def __str__(self) -> str:
        return str(self.strerror)


class StoreAway(StoreError):
    """The database cannot be used for now, which may pass: the disk is full, another program locks the file, or the
    server is unreachable.

    `reason` says why, in words that may be shown to anybody; "" if the system's own error message may be shown.
    """

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason


class StoreUnsure(StoreAway):
    """The connection was lost during a COMMIT, and it is still unknown whether the server carried it out."""


class StoreOwned(StoreAway):
    """Another service works with the same database. `service` is its name, "" if unknown."""

    def __init__(self, sentence: str, service: str) -> None:
        super().__init__(sentence)
        self.service = service


class StoreLost(StoreError):
    """Another process has taken over the database. This process can no longer write to it."""


class StoreCorrupt(StoreError):
    """The database file is damaged or is no database. It was left unchanged."""


class StoreTooNew(StoreError):
    """The database was written by a later version of the program. It was left unchanged."""


class StoreTooOld(StoreError):
    """The database was made before the first release, or by another program. It was left unchanged."""


class DirectoryInUse(StoreError):
    """Another process owns the data directory."""


class StoreConflict(StoreError):
    """A constraint of a table forbids the change; the caller knows what that means. Nothing was written."""
