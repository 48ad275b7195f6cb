"""Pictures and files, stored next to the database under the hash of their content, and the check which of them a person
may load. Implements `agent.ports.stores.Frames`.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import Text, bindparam, delete, exists, func, or_, select

from bot.domain.address import Address, Person
from bot.domain.limits import GIBIBYTE, KEEP_DAYS, KEEP_GIGABYTES
from bot.store.database import (
    JsonField,
    JsonPart,
    Listed,
    Parameters,
    TimedTableAccess,
    accounts_text,
    given,
    in_turn,
    is_of,
    upsert,
)
from bot.store.errors import StoreAway
from bot.store.tables.chats import questions
from bot.store.tables.people import console_messages, handed_in
from bot.store.tables.tasks import steps, task_events, tasks
from bot.store.waiting import PATIENCE_S, retry_while_away
from bot.texts import words
from devices.measuring import measured

_REFERENCE = re.compile(r"[0-9a-f]{64}\.[a-z0-9]{1,10}")

_DAY_S = 86_400.0
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class FrameFiles:
    """A directory of files named after the SHA-256 of their bytes, in subfolders named after the first two digits."""

    def __init__(
        self,
        root: Path,
        clock: Callable[[], float],
        *,
        keep_days: float = KEEP_DAYS,
        keep_bytes: float = KEEP_GIGABYTES * GIBIBYTE,
        patience: float = 0.0,
    ) -> None:
        self._root = root
        self._clock = clock
        self._keep_days = keep_days
        self._keep_bytes = keep_bytes
        self._patience = patience
        self.elsewhere: Callable[[str], Awaitable[bytes]] | None = None
        """Fetches bytes that are not here from another computer; None if there is none. Raises KeyError if they are not
        there either. What it returns is then stored here.
        """

    def patient(self) -> FrameFiles:
        """Return the same storage with a `save` that waits while the disk is full, but without `elsewhere`.

        Tasks use it, since they can wait; requests of people are answered at once.
        """
        return FrameFiles(
            self._root, self._clock, keep_days=self._keep_days, keep_bytes=self._keep_bytes, patience=PATIENCE_S
        )

    @measured("store")
    async def save(self, data: bytes, *, suffix: str) -> str:
        """Store the bytes and return their reference: their SHA-256 and the suffix (given with or without its dot).

        Raises ValueError for an invalid suffix, OSError when the bytes cannot be written.
        """
        reference = f"{hashlib.sha256(data).hexdigest()}.{suffix.removeprefix('.')}"
        if not _REFERENCE.fullmatch(reference):
            raise ValueError(f"{suffix!r} is no suffix for a file: at most 10 small letters or digits")
        await retry_while_away(lambda: asyncio.to_thread(self._write, reference, data), seconds=self._patience)
        return reference

    async def load(self, reference: str) -> bytes:
        """Return the bytes of a reference. Raises KeyError when they were never stored, were deleted because of age or
        size, or are damaged, and OSError when the file cannot be read.

        Bytes that are not here are fetched from `elsewhere`, if that is set.
        """
        if not _REFERENCE.fullmatch(reference):
            raise KeyError(reference)
        try:
            data = await asyncio.to_thread(self._path(reference).read_bytes)
        except FileNotFoundError:
            if self.elsewhere is None:
                raise KeyError(reference) from None
            data = await self.elsewhere(reference)
            if hashlib.sha256(data).hexdigest() == reference.partition(".")[0]:
                with suppress(OSError):
                    await self.save(data, suffix=reference.partition(".")[2])
        if hashlib.sha256(data).hexdigest() != reference.partition(".")[0]:
            # Only after a power cut: files are not forced to the disk one by one.
            raise KeyError(reference)
        return data

    async def prune(self, in_use: frozenset[str] = frozenset()) -> int:
        """Delete files older than the configured days, then the oldest until the rest fits into the configured size.
        Returns how many were deleted.

        Files whose reference is in `in_use` are not deleted, however old or large they are.
        """
        return await asyncio.to_thread(self._prune, in_use)

    def _path(self, reference: str) -> Path:
        return self._root / reference[:2] / reference

    def _write(self, reference: str, data: bytes) -> None:
        try:
            self._put(self._path(reference), data)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            raise StoreAway(words("store.no_room", reason=error.strerror)) from error

    def _put(self, path: Path, data: bytes) -> None:
        now = self._clock()
        with suppress(OSError):
            if path.read_bytes() == data:  # a card and a step show the same picture
                os.utime(path, (now, now))
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written under another name first, so that no reader ever sees half a file, even after a crash.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.utime(name, (now, now))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _prune(self, in_use: frozenset[str]) -> int:
        oldest = self._clock() - self._keep_days * _DAY_S
        total = removed = 0
        for file in sorted(kept_files(self._root), key=lambda file: file.written, reverse=True):
            total += file.size
            if file.name not in in_use and (file.written < oldest or total > self._keep_bytes):
                Path(file.path).unlink(missing_ok=True)
                removed += 1
        return removed


class KeptFile(NamedTuple):
    """A file on the disk: `written` in Unix seconds, `size` in bytes."""

    written: float
    size: int
    name: str
    path: str


def kept_files(root: Path) -> Iterator[KeptFile]:
    """Yield all files in the subfolders of `root`, in no particular order; one that disappears meanwhile is skipped.
    Blocks.

    It uses os.scandir, as Path objects take twice as long: a hundred thousand files cost half a second of processor
    time, in which the event loop waits for the interpreter.
    """
    for folder in root.iterdir() if root.is_dir() else ():
        if not folder.is_dir():
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    status = entry.stat()
                    yield KeptFile(status.st_mtime, status.st_size, entry.name, entry.path)


KEPT_S: Final = 14 * 86400.0
"""Seconds for which it is stored who uploaded a file. Our choice: as long as files are kept (`KEEP_DAYS`)."""

_CONTENT: Final = bindparam("content", type_=Text())


_STEP: Final = select(steps.c.task).where(
    # As in the index.
    steps.c.frame.is_not(None),
    func.substr(steps.c.frame, 1, 12) == func.substr(_CONTENT, 1, 12),
    # Not the bare column: SQLite would then go through the index from its beginning to its end.
    steps.c.frame + "" == _CONTENT,
)
_SHOWN_FILES: Final = Listed(JsonPart(console_messages.c.content, "files")).table_valued("value")
_HAS: Final = select(
    or_(
        exists().where(handed_in.c.content == _CONTENT, is_of(handed_in, "people")),
        exists().where(tasks.c.id.in_(_STEP), is_of(tasks, "people")),
        exists().where(is_of(tasks, "people"), tasks.c.frame == _CONTENT),
        exists()
        .select_from(tasks.join(questions))
        .where(
            is_of(tasks, "people"),
            or_(
                JsonField(questions.c.question, "frame") == _CONTENT,
                JsonField(questions.c.question, "before") == _CONTENT,
            ),
        ),
        exists()
        .select_from(tasks.join(task_events))
        .where(
            is_of(tasks, "people"),
            task_events.c.kind == "file",
            JsonField(task_events.c.data, "content") == _CONTENT,
        ),
        exists().where(
            given(console_messages.c.owner),
            func.instr(console_messages.c.content, _CONTENT) > 0,
            or_(
                JsonField(console_messages.c.content, "picture") == _CONTENT,
                exists().select_from(_SHOWN_FILES).where(JsonField(_SHOWN_FILES.c.value, "reference") == _CONTENT),
            ),
        ),
    )
)
_HANDED_IN: Final = upsert(handed_in, handed_in.c.keys())
_FORGET: Final = delete(handed_in).where(handed_in.c.at < bindparam("oldest"))


class OwnFiles(TimedTableAccess):
    """Finds out, from the tables of tasks, events, questions and messages, which files a person was shown or has
    uploaded.
    """

    async def handed_in(self, content: str, person: Person) -> None:
        """Record that this person uploaded the file with the reference `content`. Raises StoreError."""
        now = self._clock()
        values: Parameters = {
            "content": content,
            "person_platform": person.platform,
            "person_id": person.id,
            "at": now,
        }
        await self._database.write(in_turn((_FORGET, {"oldest": now - KEPT_S}), (_HANDED_IN, values)))

    async def has(self, content: str, accounts: Collection[Person], home: Address) -> bool:
        """Return whether a person with these accounts has uploaded the file with the reference `content`, or was shown
        it.

        The person was shown it if it was part of their tasks, or was sent to the console of the account at `home`.
        Raises StoreError.
        """
        people = accounts_text(accounts)
        rows = await self._database.fetch(_HAS, {"content": content, "people": people, "owner": home.chat})
        return bool(rows[0][0])
