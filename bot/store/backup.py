"""A backup of the data directory in one file, made while the service runs, and the exact schema of the databases in it,
to reject files that contain anything else.

A foreign trigger or view could run code, and a foreign table or column could hide data.

The file is a zip archive with `backup.json`, the two databases, the files that people wrote (skills, members, MCP
servers, documents) and, on request, the pictures and the settings file, which contains keys and access tokens. The
checkpoints are copied before the store, so the copied store may be slightly newer than the checkpoints; a crash leaves
the same state, and the service recovers from it at its next start.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

from langgraph.checkpoint.sqlite import SqliteSaver

from bot.store.errors import StoreCorrupt, StoreError, StoreTooNew, StoreTooOld
from bot.store.sqlite.checkpoints import CHECKPOINTS_NAME
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.sqlite.schema import IS_OURS, migrations
from bot.store.store import FRAMES_NAME
from bot.texts import words

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|(?P<left_out>--[^\n]*|/\*.*?(?:\*/|\Z)|\s+)|\w+|.""",
    re.DOTALL,
)
"""The tokens of SQL (https://www.sqlite.org/lang.html); `left_out` matches comments and blanks."""
_NAMED = 60
"""Most characters of a foreign name in a message; it may be anything."""

Shape = Counter[tuple[str, ...]]
"""Each table, index, view and trigger as (kind, name, its table, its SQL without extra blanks and comments)."""


def store_shape(version: int) -> Shape:
    """Return the shape of the store's database as the migrations up to this version create it."""
    with closing(sqlite3.connect(":memory:")) as database:
        for number, script in migrations():
            if number <= version:
                database.executescript(script)
        return shape_of(database)


def checkpoints_shape() -> Shape:
    """Return the shape of the checkpoint database as LangGraph creates it."""
    with closing(sqlite3.connect(":memory:")) as database:
        SqliteSaver(database).setup()
        return shape_of(database)


def shape_of(database: sqlite3.Connection) -> Shape:
    """Return the shape of a database: its tables, indexes, views and triggers. None of its SQL is run."""
    rows = database.execute("SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_schema")
    return Counter((str(kind), str(name), str(of), _bare(str(sql))) for kind, name, of, sql in rows)


def difference(found: Shape, ours: Shape) -> str:
    """Return the first element that is in `found` but not in `ours`, or else is missing, such as `trigger 'x'`; "" if
    they are equal.
    """
    first = next(iter(sorted(found - ours) or sorted(ours - found)), None)
    return "" if first is None else f"{first[0]} {first[1][:_NAMED]!r}"


def _bare(sql: str) -> str:
    return " ".join(token[0] for token in _TOKEN.finditer(sql) if token["left_out"] is None)


MANIFEST = "backup.json"
FORMAT = 1
DATABASES = (CHECKPOINTS_NAME, DATABASE_NAME)
SIGNED_IN = ("console_sessions", "tokens")
"""Tables of sign-ins and access tokens. They are left out: restoring a backup must not revive access revoked since."""
_NOTHING: Final[Mapping[str, Path]] = MappingProxyType({})
_SEGMENT: Final = r"[^/\\\x00-\x1f\x7f\ud800-\udfff]{1,200}"
WRITTEN_NAME: Final = re.compile(rf"{_SEGMENT}(/(?!\.){_SEGMENT}){{0,16}}")
"""Valid names of people's files in a backup: a relative path that cannot leave its folder and is not hidden."""
BUSY_S = 15.0
"""How long a copy waits for another process to release its lock on the database file."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a finished backup contains.

    - `version`: Version of the store's schema.
    - `frames`: Number of pictures.
    - `written`: Names in the archive of the files that people wrote, such as "skills/pay-rent/SKILL.md".
    """

    version: int
    frames: int
    written: tuple[str, ...] = ()


def back_up(
    directory: Path,
    file: Path,
    *,
    frames: bool,
    settings: str = "",
    written: Mapping[str, Path] = _NOTHING,
    record: Path | None = None,
) -> Copied:
    """Write a backup of the data directory to `file`, which appears complete or not at all. Blocks.

    `frames` includes the pictures. `settings` is the name of the settings file in the directory, "" to leave it out.
    `written` maps names in the backup to files that people wrote; names that do not match `WRITTEN_NAME` are skipped.
    `record` is the folder of the two databases, the data directory by default.

    Raises StoreError when a database is missing, when `file` exists, or when it cannot be written, and whatever
    `looked_through` raises.
    """
    if file.exists():
        raise StoreError(words("backup.there", file=file))
    databases = record or directory
    for name in DATABASES:
        if not (databases / name).is_file():
            raise StoreError(words("backup.missing", name=name, path=databases))
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.") as folder:
            for name in DATABASES:
                copy_database(databases / name, Path(folder) / name)
            version = looked_through(Path(folder))
            for table in SIGNED_IN:
                empty(Path(folder) / DATABASE_NAME, table)
            made = Path(folder) / file.name
            pictures = _pictures(directory) if frames else []
            beside = [directory / settings] if settings and (directory / settings).is_file() else []
            named = {name: path for name, path in written.items() if WRITTEN_NAME.fullmatch(name)}
            kept = _pack(made, Path(folder), version, pictures, {path.name: path for path in beside} | named)
            made.rename(file)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(words("backup.unwritten", file=file, reason=error.strerror)) from None
    return Copied(
        version, sum(name.startswith(f"{FRAMES_NAME}/") for name in kept), tuple(sorted(kept & written.keys()))
    )


def copy_database(source: Path, target: Path) -> None:
    """Make a consistent copy of an SQLite database while others may write to it. Raises StoreError or StoreCorrupt."""
    with (
        explained(source),
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_S)) as read,
        closing(sqlite3.connect(target)) as written,
    ):
        # In one go: a copy in parts starts again whenever another process writes in between.
        read.backup(written, pages=-1)
        # One file, without a write-ahead log next to it.
        written.execute("PRAGMA journal_mode = DELETE")


def empty(store: Path, table: str) -> None:
    """Delete all rows of a table in this database file. Raises StoreError or StoreCorrupt."""
    with explained(store), closing(sqlite3.connect(store)) as database, database:
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - one of our names


def looked_through(folder: Path) -> int:
    """Check both databases in the folder and return the version of the store's schema.

    Raises StoreCorrupt when a file is damaged or contains tables, triggers or the like that this program does not
    create, StoreTooOld when one was made before the first release or by another program, and StoreTooNew when the
    schema is newer than this program.
    """
    version = 0
    for name in DATABASES:
        with explained(folder / name), closing(sqlite3.connect(folder / name)) as database:
            if not database.execute(IS_OURS).fetchone()[0]:
                raise StoreTooOld(words("backup.too_old", name=name))
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            if version > (known := migrations()[-1][0]):
                raise StoreTooNew(words("backup.too_new", version=version, known=known))
            # Before any query that could run code hidden in the file, such as a trigger or view.
            ours = checkpoints_shape() if name == CHECKPOINTS_NAME else store_shape(version)
            if other := difference(shape_of(database), ours):
                raise StoreCorrupt(words("backup.other_shape", name=name, what=other))
            found = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreCorrupt(words("backup.copy_damaged", name=name, reason=found))
    return version


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Context manager that turns errors of SQLite and zip files into StoreError or StoreCorrupt with a sentence about
    `path`.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(words("backup.unread", path=path, reason=error)) from error
    except (sqlite3.DatabaseError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise StoreCorrupt(words("backup.damaged", path=path, reason=error)) from error


def _pictures(directory: Path) -> list[Path]:
    return sorted(path for path in (directory / FRAMES_NAME).glob("*/*") if not path.name.startswith("new-"))


def _pack(made: Path, folder: Path, version: int, pictures: list[Path], beside: Mapping[str, Path]) -> set[str]:
    """Write the archive; returns the names of the files in it other than the databases and the manifest."""
    kept: set[str] = set()
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        # A file time that a zip archive cannot represent (before 1980) is replaced by the nearest possible one.
        with zipfile.ZipFile(out, "w", strict_timestamps=False) as archive:
            for name in DATABASES:
                archive.write(folder / name, name, zipfile.ZIP_DEFLATED)
            wanted = [(name, path, zipfile.ZIP_DEFLATED) for name, path in beside.items()]
            wanted += [(f"{FRAMES_NAME}/{path.parent.name}/{path.name}", path, zipfile.ZIP_STORED) for path in pictures]
            for name, path, packed in wanted:
                try:
                    archive.write(path, name, packed)
                except FileNotFoundError:
                    continue  # retention, or somebody who rewrites it, was quicker
                kept.add(name)
            about = {"format": FORMAT, "made": datetime.now(UTC).isoformat(timespec="seconds"), "version": version}
            archive.writestr(MANIFEST, json.dumps(about))
        out.flush()
        os.fsync(out.fileno())
    return kept
