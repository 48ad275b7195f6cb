"""Restores a backup into a data directory, and finds what takes effect then: people's rights, settings, and schedules
and tasks that would run.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.domain.address import Person
from bot.domain.right import Grant, TierGift
from bot.store.backup import (
    DATABASES,
    FORMAT,
    MANIFEST,
    SIGNED_IN,
    WRITTEN_NAME,
    Copied,
    empty,
    explained,
    looked_through,
)
from bot.store.database import Row
from bot.store.directory import DataDirectory
from bot.store.errors import StoreCorrupt, StoreError, StoreTooNew
from bot.store.people import GIFT, GRANT, LINKED
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import FRAMES_NAME
from bot.texts import words


@dataclass(frozen=True, slots=True)
class Waiting:
    """A schedule or unfinished task in a backup.

    - `person`: Whom it works for.
    - `when`: When a schedule is due, in the words in which it was written; "" for a task.
    - `text`: What is to be done.
    """

    id: str
    person: Person
    when: str
    text: str


@dataclass(frozen=True, slots=True)
class Brought:
    """Everything in a backed-up store that has an effect once a service runs with it.

    - `links`: Groups of accounts, each group being one person's.
    - `moves`: Chats whose id changed, as (platform, old id, new id); permissions for the old id also hold for the new
      one.
    - `settings`: Settings changed by admins, as (name, value).
    """

    people: tuple[Person, ...]
    """Who has given tasks."""
    grants: tuple[Grant, ...]
    links: tuple[tuple[Person, ...], ...]
    moves: tuple[tuple[str, str, str], ...]
    tiers: tuple[TierGift, ...]
    settings: tuple[tuple[str, str], ...]
    schedules: tuple[Waiting, ...]
    tasks: tuple[Waiting, ...]
    """Those that have not ended."""


def brought(store: Path) -> Brought:
    """Read these contents from a store's database file of any schema version. Blocks. Raises sqlite3.Error.

    The file must have been checked before (`bot.store.backup.looked_through`).
    """
    with closing(sqlite3.connect(store)) as database:
        database.row_factory = sqlite3.Row

        def rows(table: str, end: str = "") -> list[Row]:
            return database.execute(f"SELECT * FROM {table} {end}").fetchall()  # noqa: S608 - the names are ours

        linked: dict[int, list[Person]] = {}
        for row in rows("links", "ORDER BY person, platform"):
            linked.setdefault(row["person"], []).append(LINKED.read(row))
        tasks = rows("tasks", "ORDER BY id")
        going = [row for row in tasks if row["state"] != "ended" and row["parent"] is None]
        return Brought(
            people=tuple(dict.fromkeys(map(_person, tasks))),
            grants=GRANT.read_all(rows("grants")),
            links=tuple(map(tuple, linked.values())),
            moves=tuple((row["platform"], row["old"], row["new"]) for row in rows("moved_chats")),
            tiers=GIFT.read_all(rows("person_tiers")),
            settings=tuple((row["name"], row["value"]) for row in rows("settings")),
            schedules=tuple(
                Waiting(str(row["id"]), _person(row), row["words"], json.loads(row["draft"])["text"])
                for row in rows("schedules", "ORDER BY id")
            ),
            tasks=tuple(Waiting(str(row["id"]), _person(row), "", row["text"]) for row in going),
        )


def _person(row: Row) -> Person:
    return Person(row["person_platform"], row["person_id"], row["person_name"])


_PICTURE = re.compile(rf"{FRAMES_NAME}/([0-9a-f]{{2}})/(\1[0-9a-f]{{62}}\.[a-z0-9]{{1,10}})")
"""The valid names of pictures in a backup, like `WRITTEN_NAME` for files that people wrote. Files with other names are
never extracted.
"""
_READ_WHOLE = 64 * 1024
"""Most bytes of the manifest and of the settings file, which are read as a whole; ours have some hundred."""
_ENCRYPTED = 1
"""Bit of a member's flags (PKWARE's APPNOTE.TXT, 4.4.4)."""
_DOORS = (*SIGNED_IN, "offers", "missed")
"""Tables that are emptied: their rows give access to the console, or are carried out when a button is pressed."""
ASIDE = "before-restore-"
BESIDE = ("", "-wal", "-shm")
"""Endings of SQLite's files for one database."""


class Unpacked:
    """A backup that was checked and unpacked in the data directory. Nothing is replaced before `take`.

    - `brings`: What takes effect when it is restored: rights, settings, schedules, unfinished tasks.
    """

    def __init__(
        self,
        directory: Path,
        folder: Path,
        copied: Copied,
        pictures: Sequence[str],
        brings: Brought,
        settings: str,
    ) -> None:
        self.brings = brings
        self.folder = folder
        """Where the backup lies unpacked until the block ends."""
        self.written = copied.written
        """The names of the files that people have written."""
        self.settings = folder if settings else None
        """The folder with the settings file of the backup, None when it has none."""
        beside = dict.fromkeys(name.partition("/")[0] for name in copied.written)
        self._names = (*DATABASES, *((settings,) if settings else ()), *beside)
        self._directory = directory
        self._folder = folder
        self._copied = copied
        self._pictures = pictures

    def take(self, *, record: bool = True) -> tuple[Copied, Path | None]:
        """Replace the databases, and the files that people wrote of each kind that the backup contains. Blocks.

        Without `record` the databases are not replaced. Pictures are added to the existing ones, as they are named
        after their content. Returns what was restored, and the folder in the data directory with everything that was
        replaced (None if there was nothing).

        Raises StoreError; everything is then as it was, apart from pictures that were added.
        """
        with _told(self._directory):
            for picture in self._pictures:
                _keep(self._folder / picture, self._directory / picture)
            names = [name for name in self._names if record or name not in DATABASES]
            return self._copied, _swap(self._folder, self._directory, names)


@contextmanager
def unpacked(directory: Path, file: Path, settings: str = "", written: Collection[str] = ()) -> Iterator[Unpacked]:
    """Context manager: unpack and check the backup `file`, and lock the data directory until the block ends. Blocks.

    `settings` is the name of the settings file. `written` are names of the files and, with a slash at the end, folders
    in the data directory that people write; only these are taken from the backup. Sign-ins, access tokens, and
    messages that a button would carry out (offers, missed messages) are removed from it, since somebody may have
    manipulated the file.

    Raises DirectoryInUse while a service runs, StoreCorrupt, StoreTooOld or StoreTooNew for a backup that cannot be
    used, and StoreError; everything is then as it was.
    """
    if not file.is_file():
        raise StoreError(words("backup.no_file", file=file))
    with DataDirectory(directory):
        with _told(directory):
            beside = tempfile.TemporaryDirectory(dir=directory, prefix="restoring-")
        with beside as folder:
            with _told(directory):
                ready = _looked_through(directory, Path(folder), file, settings, written)
            yield ready


def _looked_through(directory: Path, folder: Path, file: Path, settings: str, written: Collection[str]) -> Unpacked:
    with explained(file), zipfile.ZipFile(file) as archive:
        pictures, made = _unpack(archive, file, folder, settings, written)
    version = looked_through(folder)
    store = folder / DATABASE_NAME
    for table in (*_DOORS, "epochs"):
        empty(store, table)
    with explained(store):
        there = settings if (folder / settings).is_file() else ""
        copied = Copied(version, len(pictures), tuple(made))
        return Unpacked(directory, folder, copied, pictures, brought(store), there)


@contextmanager
def _told(directory: Path) -> Iterator[None]:
    """Turn what can be wrong with the disk into a sentence."""
    try:
        yield
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(words("backup.unrestored", path=directory, reason=error.strerror)) from error


def _unpack(
    archive: zipfile.ZipFile, file: Path, folder: Path, settings: str, written: Collection[str]
) -> tuple[list[str], list[str]]:
    """Extract the files that belong to a backup into the folder; returns the names of the pictures, and of people's
    files.
    """
    names = set(archive.namelist())
    pictures = sorted(name for name in names if _PICTURE.fullmatch(name))
    made = sorted(name for name in names if _is_written(name, written))
    foreign = {MANIFEST, *DATABASES} - names or names - {MANIFEST, *DATABASES, settings, *pictures, *made}
    read_whole = [archive.getinfo(name).file_size for name in names & {MANIFEST, settings}]
    if foreign or not all(map(_is_ours, archive.infolist())) or max(read_whole) > _READ_WHOLE:
        raise StoreCorrupt(words("backup.foreign", file=file))
    try:
        form = json.loads(archive.read(MANIFEST))["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreCorrupt(words("backup.foreign", file=file)) from error
    if form != FORMAT:
        raise StoreTooNew(words("backup.other_version", file=file))
    # A few kilobytes can unpack to fill the disk, so no more is read of each file than its declared size.
    if sum(each.file_size for each in archive.infolist()) > shutil.disk_usage(folder).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    for name in (*DATABASES, *names & {settings}, *made, *pictures):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as read, target.open("xb") as out:
            shutil.copyfileobj(read, out)
            out.flush()
            if name not in pictures:
                os.fsync(out.fileno())
        if name == settings or name in written:
            target.chmod(0o600)
        # Retention counts from when a picture was taken, not from now. Zip files contain local time.
        taken = _taken(archive.getinfo(name))
        os.utime(target, (taken, taken))
    return pictures, made


def _is_written(name: str, written: Collection[str]) -> bool:
    if not WRITTEN_NAME.fullmatch(name):
        return False
    return name in written or any(name.startswith(folder) for folder in written if folder.endswith("/"))


def _is_ours(entry: zipfile.ZipInfo) -> bool:
    """Return whether this program could have written the entry: not encrypted, compressed as ours, and with a valid
    time.
    """
    try:
        _taken(entry)
    except (ValueError, OverflowError):
        return False
    encrypted = entry.flag_bits & _ENCRYPTED
    return not encrypted and entry.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def _taken(entry: zipfile.ZipInfo) -> float:
    return datetime(*entry.date_time).astimezone().timestamp()


def _keep(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        source.replace(target)


def _swap(fresh: Path, directory: Path, names: Sequence[str]) -> Path | None:
    """Move the present files of these names aside and the fresh ones into their place; after an error everything is as
    before.
    """
    present = [name + end for name in names for end in BESIDE if (directory / (name + end)).exists()]
    aside = directory / f"{ASIDE}{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
    moves = [(directory / name, aside / name) for name in present]
    moves += [(fresh / name, directory / name) for name in names]
    if present:
        aside.mkdir(mode=0o700)
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            source.rename(target)
            done.append((source, target))
    except OSError:
        for source, target in reversed(done):
            target.rename(source)
        if present:
            aside.rmdir()
        raise
    return aside if present else None
