"""What can be wrong with the data directory. Each message is for the operator and says what to do."""

from __future__ import annotations

import errno


class StoreError(OSError):
    """The store could not be read or written. `strerror` is the sentence."""

    def __init__(self, sentence: str, code: int = errno.EIO) -> None:
        super().__init__(code, sentence)

    def __str__(self) -> str:
        return str(self.strerror)


class StoreAway(StoreError):
    """For now nothing can be written: the disk is full, or another program holds the file. Later it may work. `reason`
    says why in words that everybody may read; "" where the cause's own words do.
    """

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason


class StoreUnsure(StoreAway):
    """The connection was lost during a COMMIT, and nothing has shown since whether the server carried it out."""


class StoreOwned(StoreAway):
    """Another service works with the record. `service` is what it is called, "" where that is not known."""

    def __init__(self, sentence: str, service: str) -> None:
        super().__init__(sentence)
        self.service = service


class StoreLost(StoreError):
    """Another process has taken over the record. Nothing more can be written by this one."""


class StoreCorrupt(StoreError):
    """The database file is damaged or no database. It was left as it is."""


class StoreTooNew(StoreError):
    """The database was written by a later version of the program. It was left as it is."""


class StoreTooOld(StoreError):
    """The database was made before the first release, or by another program. It was left as it is."""


class DirectoryInUse(StoreError):
    """Another process owns the data directory."""


class StoreConflict(StoreError):
    """A constraint of a table forbids what would be written; the caller understands why. Nothing of it was written."""
